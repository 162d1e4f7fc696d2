import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findTerminal, openTerminal } from '../../../../src-main/platform/process/open-terminal.ts'

async function withPrograms(names: readonly string[]) {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'copse-terminal-')))
  const bin = join(folder, 'bin')
  await mkdir(bin)
  // Each prints where it was started, and ends.
  const script = '#!/bin/sh\npwd > started.txt.new && mv started.txt.new started.txt\n'
  for (const name of names) await writeFile(join(bin, name), script, { mode: 0o755 })
  return { folder, bin, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) }
}

test('prefers the person’s terminal to the others of a Linux desktop', async () => {
  await using given = await withPrograms(['xterm', 'konsole', 'mine'])
  const { bin } = given
  expect(findTerminal('linux', { PATH: bin })?.program).toBe(join(bin, 'konsole'))
  expect(findTerminal('linux', { PATH: `/nowhere:${bin}`, TERMINAL: 'mine' })?.program).toBe(join(bin, 'mine'))
  expect(findTerminal('linux', { PATH: bin, TERMINAL: 'gone' })?.program).toBe(join(bin, 'konsole'))
  expect(findTerminal('linux', { PATH: '/nowhere' })).toBeNull()
})

test('passes the folder on macOS and Windows', async () => {
  expect(findTerminal('darwin', {})?.args('/a b')).toEqual(['-a', 'Terminal', '/a b'])
  await using given = await withPrograms(['wt.exe'])
  expect(findTerminal('win32', { PATH: given.bin })?.args('C:\\a b')).toEqual(['-d', 'C:\\a b'])
  expect(findTerminal('win32', { PATH: '' })?.args('C:\\a b')).toEqual(['/c', 'start', 'cmd.exe'])
})

test.skipIf(process.platform === 'win32')(
  'starts a terminal in the folder, and reports one that can’t start',
  async () => {
    await using given = await withPrograms(['xterm'])
    const { folder, bin } = given
    const terminal = findTerminal('linux', { PATH: bin })
    if (terminal === null) throw new Error('There is one.')
    await openTerminal(terminal, folder)
    const started = () => readFile(join(folder, 'started.txt'), 'utf8').catch(() => null)
    await expect.poll(started).toBe(`${folder}\n`)
    const gone = { program: join(bin, 'gone'), args: () => [] }
    await expect(openTerminal(gone, folder)).rejects.toMatchObject({ code: 'ENOENT' })
  },
)
