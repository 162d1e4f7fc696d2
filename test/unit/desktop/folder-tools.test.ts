import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { findFolderTools, openAtLine, openInTool } from '../../../src-main/desktop/folder-tools.ts'

const home = await realpath(await mkdtemp(join(tmpdir(), 'copse editors ')))
const programs = join(home, 'programs')
const notes = join(home, 'notes')
const file = join(home, 'a #1.ts')
await mkdir(programs)
await mkdir(notes)
await writeFile(file, 'one\n')
afterAll(() => rm(home, { recursive: true, force: true }))

const soon = { timeout: 20_000 }
/** The only programs that exist. */
const onPath = { PATH: programs }

function links(schemes: readonly string[]) {
  const opened: string[] = []
  return {
    opened,
    handlerOf: (link: string) => (schemes.some((scheme) => link === `${scheme}://`) ? 'Some editor' : ''),
    open: (link: string) => {
      opened.push(link)
      return Promise.resolve()
    },
  }
}

/** Writes a program that saves its arguments atomically; returns the file. */
async function fakeEditor(name: string): Promise<string> {
  const note = join(notes, name)
  const script = `#!/bin/sh\nprintf '%s\\n' "$@" > '${note}.half' && mv '${note}.half' '${note}'\n`
  await writeFile(join(programs, name), script, { mode: 0o755 })
  return note
}
/** The arguments of the fake editor; empty before its start. */
const told = (note: string) => readFile(note, 'utf8').catch(() => '')

const names = async (schemes: readonly string[]) =>
  (await findFolderTools(links(schemes), onPath)).filter(({ files }) => files).map(({ name }) => name)

test('lists editors with a registered link or a program on PATH', async () => {
  expect(await names(['vscode', 'zed', 'mailto'])).toEqual(['VS Code', 'Zed'])
})

test('opens a folder by a link that names it, with any characters in its path', async () => {
  const some = links(['vscode'])
  expect(await openInTool('vscode', tmpdir(), some, onPath)).toBe(true)
  expect(await openAtLine('vscode', file, 12, some, onPath)).toBe(true)
  const path = home.replaceAll(' ', '%20')
  expect(some.opened).toEqual([`vscode://file${tmpdir()}`, `vscode://file${path}/a%20%231.ts:12`])
})

test.skipIf(process.platform === 'win32').each([
  ['vscode', 'code', ['-g', `${file}:12`]],
  ['cursor', 'cursor', ['-g', `${file}:12`]],
  ['zed', 'zed', [`${file}:12`]],
  ['sublime', 'subl', [`${file}:12`]],
  ['idea', 'idea', ['--line', '12', file]],
])('starts %s as %s with the line', async (id, program, words) => {
  const note = await fakeEditor(program)
  const none = links([])
  expect(await openAtLine(id, file, 12, none, onPath)).toBe(true)
  await expect.poll(() => told(note), soon).toBe(`${words.join('\n')}\n`)
  expect(await openInTool(id, home, none, onPath)).toBe(true)
  await expect.poll(() => told(note), soon).toBe(`${home}\n`)
  await rm(join(programs, program))
})

test('opens nothing for a missing folder, file or program', async () => {
  const some = links(['vscode'])
  expect(await openInTool('vscode', join(tmpdir(), 'nowhere #1'), some, onPath)).toBe(false)
  expect(await openInTool('cursor', tmpdir(), some, onPath)).toBe(false)
  expect(await openInTool('javascript', tmpdir(), some, onPath)).toBe(false)
  expect(await openAtLine('vscode', home, 1, some, onPath)).toBe(false)
  expect(await openAtLine('cursor', file, 1, some, onPath)).toBe(false)
  expect(await openAtLine('terminal', file, 1, some, onPath)).toBe(false)
  expect(some.opened).toEqual([])
})
