import { expect, test } from 'vitest'
import { initialScript } from '../bench/initial-script.ts'

// Viewers, editors, graphs and the contract's schemas are far larger than the remaining budget.
test('needs at most three files of 195 KB compressed script for the first page', async () => {
  const { files, compressed } = await initialScript()
  expect(compressed).toBeLessThanOrEqual(195_000)
  expect(files).toHaveLength(3)
})
