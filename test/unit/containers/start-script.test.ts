import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { programsExitCode } from '../../../src-main/containers/start-script.ts'

test('believes the program of a container about its end, and its client where it never began', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'copse-start-'))
  const start = join(folder, 'start')
  const code = async (told: number, own: string | null) => {
    await rm(`${start}.end`, { force: true })
    if (own !== null) await writeFile(`${start}.end`, own)
    return await programsExitCode(start, told)
  }
  expect(await code(7, '7\n')).toBe(7)
  // Docker's client says 0 of what Podman has run.
  expect(await code(0, '7\n')).toBe(7)
  // A container that was killed says nothing.
  expect(await code(0, null)).toBe(137)
  expect(await code(137, null)).toBe(137)
  // The client was lost, and the program was ended for that.
  expect(await code(127, '0\n')).toBe(137)
  expect(await code(125, '')).toBe(137)
  await writeFile(start, '')
  expect(await code(125, null)).toBe(125)
  await rm(folder, { recursive: true })
})
