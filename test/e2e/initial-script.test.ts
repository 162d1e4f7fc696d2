import { expect, test } from 'vitest'
import { initialScript } from '../bench/initial-script.ts'

test('the script that the first page needs is at most 300 KB compressed, without viewers, editors and graphs', async () => {
  const { files, compressed } = await initialScript()
  expect(compressed).toBeLessThanOrEqual(300_000)
  expect(files.filter((file) => /Diff|Terminal|Workflow|Json|Palette/.test(file))).toEqual([])
})
