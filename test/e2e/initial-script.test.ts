import { expect, test } from 'vitest'
import { initialScript } from '../bench/initial-script.ts'

// Viewers, editors, graphs and the schemas of the contract are far larger than what is left to this.
test('needs at most three files of 180 KB compressed script for the first page', async () => {
  const { files, compressed } = await initialScript()
  expect(compressed).toBeLessThanOrEqual(180_000)
  expect(files).toHaveLength(3)
})
