import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { openWorkflowFiles, shippedTemplates } from '../../../src-main/workflow-files/create-workflow-files.ts'
import { formatTemplate } from '../../../src-main/workflow-files/template-file.ts'
import { projectRoot } from '../../helpers/project-root.ts'
import { plugins, standardDefinition } from '../../unit/domain/workflows.ts'

const shippedDir = resolve(projectRoot, 'workflows')

async function folder(files: Readonly<Record<string, string>> | null = {}) {
  const root = await mkdtemp(join(tmpdir(), 'copse-templates-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  const dir = join(root, 'workflows')
  if (files) {
    await mkdir(dir)
    for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text)
  }
  return { dir, open: () => openWorkflowFiles({ dir, shippedDir, plugins }) }
}

const small = formatTemplate('Small', standardDefinition)

test('fills a new folder with the four shipped templates, all valid', async () => {
  const { dir, open } = await folder(null)
  const files = await open()
  const shipped = ['default.yaml', 'no-user-approval.yaml', 'pull-request.yaml', 'user-approval-review.yaml']
  expect((await readdir(dir)).sort()).toEqual(shipped)
  expect((await files.list()).map(({ name, builtin, issues }) => ({ name, builtin, issues }))).toEqual(
    [...shippedTemplates].sort().map((name) => ({ name, builtin: true, issues: [] })),
  )
})

test('adds only a missing default to an existing folder', async () => {
  const { dir, open } = await folder({ 'mine.yaml': small, 'no-user-approval.yaml': 'broken: [' })
  await open()
  expect((await readdir(dir)).sort()).toEqual(['default.yaml', 'mine.yaml', 'no-user-approval.yaml'])
  expect(await readFile(join(dir, 'no-user-approval.yaml'), 'utf8')).toBe('broken: [')
  const again = await folder({ 'default.yaml': small })
  await again.open()
  expect(await readFile(join(again.dir, 'default.yaml'), 'utf8')).toBe(small)
  const short = await folder({ 'default.yml': small })
  await short.open()
  expect(await readdir(short.dir)).toEqual(['default.yml'])
})

test('reads files as soon as they exist: .yaml before .yml, with valid names only', async () => {
  const { dir, open } = await folder({ 'default.yaml': small })
  const files = await open()
  for (const name of [
    'a.yml',
    'b.yaml',
    'b.yml',
    'Upper.yaml',
    '-x.yaml',
    '.hidden.yaml',
    'c.json',
    `${'n'.repeat(65)}.yaml`,
  ]) {
    await writeFile(join(dir, name), small.replace('Small', name))
  }
  expect((await files.list()).map(({ name, description }) => [name, description])).toEqual([
    ['a', 'a.yml'],
    ['b', 'b.yaml'],
    ['default', 'Small'],
  ])
  await rm(join(dir, 'a.yml'))
  expect(await files.get('a')).toBeNull()
})

test('lists unreadable files with their error', async () => {
  const { dir, open } = await folder({ 'default.yaml': small, 'long.yaml': '#'.repeat(1_000_001), 'bad.yaml': 'a: [' })
  await mkdir(join(dir, 'folder.yaml'))
  await symlink(join(dir, 'nowhere'), join(dir, 'gone.yaml'))
  await promisify(execFile)('mkfifo', [join(dir, 'pipe.yaml')])
  const files = await open()
  expect(
    Object.fromEntries((await files.list()).map(({ name, issues }) => [name, issues[0]?.message.split('\n')[0]])),
  ).toEqual({
    default: undefined,
    bad: expect.stringContaining('valid YAML') as string,
    folder: 'This isn’t a file.',
    gone: "The file can't be read (ENOENT).",
    long: 'The file is longer than 1000000 bytes.',
    pipe: 'This isn’t a file.',
  })
})

test('reads a saved template back from one file, and leaves nothing else', async () => {
  const { dir, open } = await folder({ 'default.yaml': small, 'mine.yml': 'old: [' })
  const files = await open()
  await files.put('mine', 'Mine: all of it', standardDefinition)
  expect(await files.get('mine')).toEqual({
    name: 'mine',
    builtin: false,
    description: 'Mine: all of it',
    definition: standardDefinition,
    issues: [],
  })
  expect((await readdir(dir)).sort()).toEqual(['default.yaml', 'mine.yaml'])
})

test('never shows readers half of a template that is saved repeatedly', async () => {
  const { open } = await folder({ 'default.yaml': small })
  const files = await open()
  await files.put('mine', '0', standardDefinition)
  let writing = true
  const writer = (async () => {
    for (let at = 0; at < 50; at++) await files.put('mine', String(at), standardDefinition)
    writing = false
  })()
  let reads = 0
  while (writing) {
    expect((await files.get('mine'))?.issues).toEqual([])
    reads += 1
  }
  await writer
  expect(reads).toBeGreaterThan(0)
})

test('leaves the folder alone when a save fails', async () => {
  const { dir, open } = await folder({ 'default.yaml': small })
  await mkdir(join(dir, 'taken.yaml', 'inside'), { recursive: true })
  const files = await open()
  await expect(files.put('taken', '', standardDefinition)).rejects.toThrow()
  expect((await readdir(dir)).sort()).toEqual(['default.yaml', 'taken.yaml'])
})

test('removes half-written files of a killed service at the next start', async () => {
  const { dir, open } = await folder({
    'default.yaml': small,
    '.mine.01234567-89ab-cdef-0123-456789abcdef.tmp': 'half',
    '.other.tmp': 'somebody else’s',
  })
  await open()
  expect((await readdir(dir)).sort()).toEqual(['.other.tmp', 'default.yaml'])
})

test('deletes both files of a name, and says whether there was one', async () => {
  const { dir, open } = await folder({ 'default.yaml': small, 'a.yaml': small, 'a.yml': small })
  const files = await open()
  expect([await files.delete('a'), await files.delete('a')]).toEqual([true, false])
  expect(await readdir(dir)).toEqual(['default.yaml'])
})

test('treats a removed folder as empty, and creates it with the next save', async () => {
  const { dir, open } = await folder({ 'default.yaml': small })
  const files = await open()
  await rm(dir, { recursive: true })
  expect(await files.list()).toEqual([])
  await files.put('mine', '', standardDefinition)
  expect((await files.list()).map(({ name }) => name)).toEqual(['mine'])
})
