import { expect, test } from 'vitest'
import { initialScript } from '../bench/initial-script.ts'

// Viewers, editors, graphs and the schemas of the contract are far larger than what is left to this.
test('the script that the first page needs is three files of at most 180 KB compressed', async () => {
  const { files, compressed } = await initialScript()
  expect(compressed).toBeLessThanOrEqual(180_000)
  expect(files).toHaveLength(3)
})
