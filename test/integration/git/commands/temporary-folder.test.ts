import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeTemporary, removeLeftTemporary } from '../../../../src-main/git/commands/temporary-folder.ts'

test('removes what a killed process left, but nothing of a running one', async () => {
  // No process has so high an ID.
  const left = join(tmpdir(), `copse-snapshot-${2 ** 31 - 2}-test`)
  await mkdir(join(left, 'objects'), { recursive: true })
  const own = await makeTemporary('snapshot')
  await removeLeftTemporary()
  expect([existsSync(left), existsSync(own)]).toEqual([false, true])
  await rm(own, { recursive: true })
})
