import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readVersion } from '../../../src-main/agents/agent/read-version.ts'

const noSignal = { signal: new AbortController().signal }
let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'read-version-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

function program(name: string, text: string, mode = 0o755): string {
  const path = join(dir, name)
  writeFileSync(path, text)
  chmodSync(path, mode)
  return path
}

it.each([
  ['2.1.197 (Claude Code)', '2.1.197'],
  ['agent version 1.0.0-beta.2\nmore', '1.0.0-beta.2'],
  ['hello', null],
])('reads the version in %j', async (printed, version) => {
  const path = program('agent', `#!/bin/sh\necho '${printed}'\n`)
  expect(await readVersion(path, noSignal)).toBe(version)
})

it('finds no version for a failing program or a file that is none', async () => {
  expect(await readVersion(program('fails', '#!/bin/sh\necho 1.2.3; exit 1\n'), noSignal)).toBeNull()
  expect(await readVersion(program('broken', '#!/no/such/interpreter\n'), noSignal)).toBeNull()
})

it('stops waiting for a hanging program on abort', async () => {
  const path = program('hangs', '#!/bin/sh\nsleep 300\n')
  await expect(readVersion(path, { signal: AbortSignal.timeout(100) })).rejects.toThrow()
})
