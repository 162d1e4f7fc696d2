import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const script = join(import.meta.dirname, '..', '..', 'scripts', 'check-package.mjs')

test('packs exactly what is needed, and starts', async () => {
  // It prints whatever is wrong, and ends with 1.
  const { stdout } = await promisify(execFile)(process.execPath, [script, '--as-built'], { timeout: 170_000 })
  expect(stdout).toMatch(/^\d+ files, \d+\.\d MB of at most 72, \d+ packages, \d+ licences\n$/)
})
