import { chmod, readFile, rename, rm, symlink, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { FileHunks, Hunk } from '../../../src-main/chapters/rules/hunk.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { seededRandom } from '../../helpers/seeded-random.ts'
import { createFixture, never, type WorkspaceFixture } from '../git/workspace-fixture.ts'

async function withWorktree(files: Record<string, string | Uint8Array>): Promise<WorkspaceFixture> {
  const fixture = await createFixture({ files: { 'README.md': '# Example\n', ...files } })
  await fixture.workspaces.ensure(fixture.request(), never)
  return fixture
}

async function readFiles(fixture: WorkspaceFixture): Promise<readonly FileHunks[]> {
  return (await fixture.workspaces.hunks(fixture.ref(), never)).files
}

const allOf = (files: readonly FileHunks[]): readonly Hunk[] => files.flatMap(({ hunks }) => hunks)
const causes = (files: readonly FileHunks[]): unknown =>
  Object.fromEntries(files.map(({ path, hunks }) => [path, hunks.map(({ cause }) => cause)]))

const numbered = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `line ${at}`)
const textOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')

test('gives each run of changed lines, committed or not, with its place on both sides', async () => {
  const before = numbered(20)
  await using fixture = await withWorktree({ 'a.txt': textOf(before) })
  await fixture.repository.commit('Change', { 'a.txt': textOf(before.with(2, 'two')) }, fixture.path)
  const now = before.with(2, 'two').toSpliced(10, 2).toSpliced(5, 0, 'more', 'and more')
  await fixture.repository.write({ 'a.txt': textOf(now), 'new.txt': 'x' }, fixture.path)
  const { tree, base_tree, files } = await fixture.workspaces.hunks(fixture.ref(), never)
  expect(base_tree).toBe(await fixture.repository.git(['rev-parse', 'main^{tree}']))
  expect(tree).toBe((await fixture.workspaces.diff(fixture.ref(), 'branch', null, never)).tree)
  expect(allOf(files).map(({ id: _, ...hunk }) => hunk)).toEqual([
    { path: 'a.txt', old_path: null, cause: 'lines', old: [3, 1], new: [3, 1], removed: ['line 2'], added: ['two'] },
    {
      path: 'a.txt',
      old_path: null,
      cause: 'lines',
      old: [5, 0],
      new: [6, 2],
      removed: [],
      added: ['more', 'and more'],
    },
    {
      path: 'a.txt',
      old_path: null,
      cause: 'lines',
      old: [11, 2],
      new: [12, 0],
      removed: ['line 10', 'line 11'],
      added: [],
    },
    { path: 'new.txt', old_path: null, cause: 'lines', old: [0, 0], new: [1, 1], removed: [], added: ['x'] },
  ])
})

test('makes one hunk of every change without lines', async () => {
  const binary = Uint8Array.from([1, 0, 2, 0, 3])
  await using fixture = await withWorktree({
    'moved.txt': textOf(numbered(30)),
    'edited.txt': textOf(numbered(30)),
    'tool.sh': 'echo\n',
    'both.sh': 'echo\n',
    'picture.png': binary,
    'link-to-be.txt': 'text\n',
  })
  const at = (name: string): string => join(fixture.path, name)
  await rename(at('moved.txt'), at('moved-to.txt'))
  await rename(at('edited.txt'), at('edited-to.txt'))
  await chmod(at('tool.sh'), 0o755)
  await chmod(at('both.sh'), 0o755)
  await rm(at('link-to-be.txt'))
  await symlink('README.md', at('link-to-be.txt'))
  await fixture.repository.write(
    {
      'edited-to.txt': textOf(numbered(30).with(3, 'edited')),
      'both.sh': 'echo 2\n',
      'empty.txt': '',
      'picture.png': Uint8Array.from([1, 0, 9]),
      'huge.json': `["${'x'.repeat(5 * 1024 * 1024)}"]\n`,
    },
    fixture.path,
  )
  await using library = await createTestRepository()
  const add = ['-c', 'protocol.file.allow=always', 'submodule', 'add', '--quiet', library.path, 'library']
  await fixture.repository.git(add, { cwd: fixture.path })
  const files = await readFiles(fixture)
  expect(causes(files)).toEqual({
    'moved-to.txt': ['rename'],
    'edited-to.txt': ['rename', 'lines'],
    'tool.sh': ['mode'],
    'both.sh': ['mode', 'lines'],
    'empty.txt': ['empty'],
    'picture.png': ['binary'],
    'huge.json': ['large'],
    'link-to-be.txt': ['lines', 'lines'],
    '.gitmodules': ['lines'],
    library: ['submodule'],
  })
  const ids = allOf(files).map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
})

test('shows text that an attribute of the branch calls binary', async () => {
  await using fixture = await withWorktree({ 'a.txt': 'one\n' })
  await fixture.repository.write({ '.gitattributes': '*.txt binary\n', 'a.txt': 'two\n' }, fixture.path)
  const hunk = allOf(await readFiles(fixture)).find(({ path }) => path === 'a.txt')
  expect(hunk).toMatchObject({ cause: 'lines', removed: ['one'], added: ['two'] })
})

test('makes a hunk of an empty file that is deleted', async () => {
  await using fixture = await withWorktree({ 'empty.txt': '' })
  await unlink(join(fixture.path, 'empty.txt'))
  expect(causes(await readFiles(fixture))).toEqual({ 'empty.txt': ['empty'] })
})

test('reads the same hunks whatever the user has configured', async () => {
  await using fixture = await withWorktree({ 'a.txt': textOf(numbered(20)) })
  await fixture.repository.write({ 'a.txt': textOf(numbered(20).with(4, 'x').with(6, 'y')) }, fixture.path)
  const before = await readFiles(fixture)
  for (const setting of ['diff.context=9', 'diff.interHunkContext=9', 'diff.algorithm=minimal', 'diff.renames=false'])
    await fixture.repository.git(['config', ...setting.split('=')])
  expect(await readFiles(fixture)).toEqual(before)
  expect(allOf(before)).toHaveLength(2)
})

test('gives equal hunks ids of their own, and keeps an id when another hunk appears', async () => {
  const before = numbered(40)
  await using fixture = await withWorktree({ 'a.txt': textOf(before), 'b.txt': textOf(before) })
  const twice = before.toSpliced(30, 0, 'again').toSpliced(10, 0, 'again')
  await fixture.repository.write({ 'a.txt': textOf(twice), 'b.txt': textOf(twice) }, fixture.path)
  const first = allOf(await readFiles(fixture)).map(({ id }) => id)
  expect(new Set(first).size).toBe(4)
  const more = twice.with(20, 'another').toSpliced(1, 0, 'above', 'all')
  await fixture.repository.write({ 'a.txt': textOf(more) }, fixture.path)
  const later = allOf(await readFiles(fixture)).map(({ id }) => id)
  expect(later).toHaveLength(6)
  expect(later).toEqual(expect.arrayContaining(first))
  // The base moves on below, and the branch is rebased: the lines that the branch changes are the same.
  await fixture.repository.commit('On main', { 'a.txt': textOf(before.toSpliced(0, 0, 'base 1', 'base 2')) })
  await fixture.repository.git(['add', '--all'], { cwd: fixture.path })
  await fixture.repository.git(['commit', '--quiet', '--message', 'Work'], { cwd: fixture.path })
  await fixture.repository.git(['rebase', '--quiet', 'main'], { cwd: fixture.path })
  expect(allOf(await readFiles(fixture)).map(({ id }) => id)).toEqual(later)
})

test('gives another id when path, content, mode or line end changes', async () => {
  await using fixture = await withWorktree({ 'a.txt': 'one\n' })
  const ids = new Set<string>()
  const note = async (): Promise<void> => {
    const lines = allOf(await readFiles(fixture)).filter(({ cause }) => cause === 'lines')
    expect(lines).toHaveLength(1)
    for (const { id } of lines) ids.add(id)
  }
  for (const content of ['two\n', 'two', 'two\r\n', Uint8Array.from([0xe9, 10]), Uint8Array.from([0xe8, 10])]) {
    await fixture.repository.write({ 'a.txt': content }, fixture.path)
    await note()
  }
  await fixture.repository.write({ 'a.txt': 'two\n' }, fixture.path)
  await chmod(join(fixture.path, 'a.txt'), 0o755)
  await note()
  await fixture.repository.write({ 'a.txt': 'one\n' }, fixture.path)
  await chmod(join(fixture.path, 'a.txt'), 0o644)
  await fixture.repository.write({ 'b.txt': 'two\n' }, fixture.path)
  await note()
  expect(ids.size).toBe(7)
})

test('gives hunks that turn the files of the base into those of the work, for 300 random files', async () => {
  const random = seededRandom(49)
  const words = ['', 'a', 'b', '@@ -1 +1 @@', '-- x', '++ y', '\\ No newline', 'diff --git a/x b/x', ' c', 'ü']
  const line = (): string => random.pick(words)
  const some = (most: number): readonly string[] => Array.from({ length: Math.floor(random.between(0, most)) }, line)
  const before: Record<string, string> = {}
  const after: Record<string, string> = {}
  for (let at = 0; at < 300; at += 1) {
    const old = some(30)
    let now = old
    for (let edits = Math.floor(random.between(1, 5)); edits > 0; edits -= 1)
      now = now.toSpliced(Math.floor(random.between(0, now.length + 1)), random.chance(0.5) ? 2 : 0, ...some(3))
    // The file's name stands in it, so that none is taken for a rename of another.
    before[`f${at}.txt`] = `${at}\n${old.join('\n')}`
    after[`f${at}.txt`] = `${at}\n${now.join('\n')}`
  }
  await using fixture = await withWorktree(before)
  await fixture.repository.write(after, fixture.path)
  const files = await readFiles(fixture)
  const ids = allOf(files).map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  for (const [name, content] of Object.entries(after)) {
    const hunks = files.find(({ path }) => path === name)?.hunks ?? []
    const old = before[name] ?? ''
    expect(hunks.length > 0, name).toBe(old !== content)
    const linesOf = (text: string): readonly string[] => text.replace(/\n$/, '').split('\n')
    let built = linesOf(old)
    for (const {
      old: [start, count],
      added,
    } of hunks.toReversed())
      built = built.toSpliced(count === 0 ? start : start - 1, count, ...added)
    expect(built, name).toEqual(linesOf(content))
  }
  expect(await readFile(join(fixture.path, 'f0.txt'), 'utf8')).toBe(after['f0.txt'])
})
