import { chmod, readdir, rm, symlink, truncate, unlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { watchHeld } from '../../helpers/held-memory.ts'
import { createFixture, never } from './workspace-fixture.ts'
import type { WorkspaceFixture } from './workspace-fixture.ts'

async function withWorktree(files: Record<string, string | Uint8Array> = {}): Promise<WorkspaceFixture> {
  const fixture = await createFixture({ files: { 'README.md': '# Example\n', ...files } })
  await fixture.workspaces.ensure(fixture.request(), never)
  return fixture
}

const lines = (count: number, text = 'line'): string =>
  Array.from({ length: count }, (_, number) => `${text} ${number}\n`).join('')

const diffOf = (
  fixture: WorkspaceFixture,
  scope: 'uncommitted' | 'branch' = 'uncommitted',
  path: string | null = null,
) => fixture.workspaces.diff(fixture.ref(), scope, path, never)

/** So large that reading it would take minutes; sparse, so it takes no disk space. */
const hugeBytes = 256 * 1024 ** 3

async function writeHuge(fixture: WorkspaceFixture, name: string): Promise<string> {
  const file = join(fixture.path, name)
  await writeFile(file, '')
  await truncate(file, hugeBytes)
  return file
}

test('lists a huge file by name without reading it', async () => {
  await using fixture = await withWorktree({ 'a.txt': 'a\n' })
  const file = await writeHuge(fixture, 'core.dump')
  await chmod(file, 0o755)
  await fixture.repository.write({ 'a.txt': 'b\n', 'z.txt': 'z\n' }, fixture.path)
  const { files, patch, truncated } = await diffOf(fixture, 'branch')
  expect(files.map(({ path }) => path)).toEqual(['a.txt', 'core.dump', 'z.txt'])
  expect(files[1]).toEqual({
    path: 'core.dump',
    old_path: null,
    status: 'added',
    old_mode: null,
    new_mode: '100755',
    blob: expect.stringMatching(/^unread-\d+-/),
    additions: 0,
    deletions: 0,
    binary: false,
    truncated: true,
    reason: 'too_large',
  })
  expect(truncated).toBe(true)
  expect(patch).not.toContain('core.dump')
  const asked = await diffOf(fixture, 'branch', 'core.dump')
  expect(asked).toMatchObject({ files: [files[1]], patch: '' })
  expect((await diffOf(fixture, 'branch', 'a.txt')).files).toEqual([files[0]])
  expect(await fixture.workspaces.diffStat(fixture.ref(), never)).toEqual({ files: 3, additions: 2, deletions: 1 })
  await utimes(file, 1, 1)
  expect((await diffOf(fixture)).files[1]?.blob).not.toBe(files[1]?.blob)
})

test('lists a huge file that replaces a tracked one as a change', async () => {
  await using fixture = await withWorktree({ 'data.bin': 'small\n' })
  await fixture.repository.git(['rm', '--quiet', '--cached', 'data.bin'], { cwd: fixture.path })
  await writeHuge(fixture, 'data.bin')
  expect((await diffOf(fixture)).files).toMatchObject([
    { path: 'data.bin', status: 'modified', old_mode: '100644', new_mode: '100644', reason: 'too_large' },
  ])
})

test('does not read a huge file during a merge', async () => {
  await using fixture = await withWorktree({ 'a.txt': 'a\n' })
  await fixture.repository.commit('Mine', { 'a.txt': 'mine\n' }, fixture.path)
  await fixture.repository.commit('Theirs', { 'a.txt': 'theirs\n' })
  await fixture.repository.git(['merge', 'main'], { cwd: fixture.path }).catch(() => undefined)
  await writeHuge(fixture, 'core.dump')
  const { files } = await diffOf(fixture)
  expect(files).toMatchObject([
    { path: 'a.txt', status: 'modified' },
    { path: 'core.dump', reason: 'too_large' },
  ])
})

test('ignores a person’s settings in a diff, and runs no program of theirs', async () => {
  await using fixture = await withWorktree({
    '.gitattributes': '*.txt diff=shout\n',
    'a.txt': `${lines(3)}\nmiddle\n\n${lines(30, 'same')}`,
    'b.txt': lines(40),
    'sub/c.txt': 'c\n',
  })
  const { repository, path } = fixture
  await unlink(join(path, 'b.txt'))
  await repository.write({ 'a.txt': `${lines(3)}\nother\n\n${lines(30, 'same')}more\n`, 'moved.txt': lines(40) }, path)
  await repository.write({ 'sub/c.txt': 'd\n', 'ü "q".txt': 'u\n', 'order.list': '*.list\nz*\nsub/*\n' }, path)
  const plain = [
    await diffOf(fixture),
    await diffOf(fixture, 'branch'),
    await fixture.workspaces.diffStat(fixture.ref(), never),
  ]
  const marker = join(repository.beside, 'ran')
  const program = `touch '${marker}'; false`
  for (const [key, value] of [
    ['core.fsmonitor', program],
    ['core.pager', program],
    ['core.quotePath', 'true'],
    ['core.bigFileThreshold', '1'],
    ['color.ui', 'always'],
    ['color.diff', 'always'],
    ['diff.algorithm', 'patience'],
    ['diff.autoRefreshIndex', 'false'],
    ['diff.colorMoved', 'zebra'],
    ['diff.context', '0'],
    ['diff.dstPrefix', 'new/'],
    ['diff.srcPrefix', 'old/'],
    ['diff.external', program],
    ['diff.ignoreSubmodules', 'all'],
    ['diff.indentHeuristic', 'false'],
    ['diff.interHunkContext', '50'],
    ['diff.mnemonicPrefix', 'true'],
    ['diff.noprefix', 'true'],
    ['diff.orderFile', join(path, 'order.list')],
    ['diff.relative', 'true'],
    ['diff.renameLimit', '1'],
    ['diff.renames', 'false'],
    ['diff.submodule', 'log'],
    ['diff.suppressBlankEmpty', 'true'],
    ['diff.wordRegex', '.'],
    ['diff.wsErrorHighlight', 'all'],
    ['diff.shout.command', program],
    ['diff.shout.textconv', program],
    ['diff.shout.cachetextconv', 'true'],
    ['status.relativePaths', 'false'],
    ['status.showUntrackedFiles', 'no'],
  ] as const) {
    await repository.git(['config', key, value])
  }
  expect([
    await diffOf(fixture),
    await diffOf(fixture, 'branch'),
    await fixture.workspaces.diffStat(fixture.ref(), never),
  ]).toEqual(plain)
  expect(await readdir(repository.beside)).not.toContain('ran')
})

test('ignores line ends on disk with autocrlf', async () => {
  await using fixture = await withWorktree({ 'a.txt': lines(5), 'b.txt': lines(5) })
  const { repository, path } = fixture
  await repository.git(['config', 'core.autocrlf', 'true'])
  await repository.git(['config', 'core.safecrlf', 'true'])
  const crlf = (text: string) => text.replaceAll('\n', '\r\n')
  await repository.write({ 'a.txt': crlf(`${lines(5)}more\n`), 'b.txt': crlf(lines(5)), 'c.txt': crlf(lines(2)) }, path)
  const { files, patch } = await diffOf(fixture)
  expect(files.map(({ path, additions, deletions }) => [path, additions, deletions])).toEqual([
    ['a.txt', 1, 0],
    ['c.txt', 2, 0],
  ])
  expect(patch).not.toContain('\r')
})

test('shows a change of mode, unless the repository ignores modes', async () => {
  await using fixture = await withWorktree({ 'run.sh': 'x\n' })
  await chmod(join(fixture.path, 'run.sh'), 0o755)
  expect((await diffOf(fixture)).files).toMatchObject([
    { path: 'run.sh', old_mode: '100644', new_mode: '100755', additions: 0, deletions: 0, reason: null },
  ])
  await fixture.repository.git(['config', 'core.fileMode', 'false'])
  expect((await diffOf(fixture)).files).toEqual([])
})

test('shows a file with intent to add whole', async () => {
  await using fixture = await withWorktree()
  await fixture.repository.write({ 'soon.txt': lines(3), 'empty.txt': '' }, fixture.path)
  await fixture.repository.git(['add', '--intent-to-add', '.'], { cwd: fixture.path })
  expect((await diffOf(fixture)).files).toMatchObject([
    { path: 'empty.txt', status: 'added', additions: 0 },
    { path: 'soon.txt', status: 'added', additions: 3 },
  ])
})

test('shows a folder that became a link, or the reverse, file by file', async () => {
  await using fixture = await withWorktree({ 'folder/one.txt': '1\n', 'folder/two.txt': '2\n', 'a.txt': 'a\n' })
  const { path, repository } = fixture
  await rm(join(path, 'folder'), { recursive: true })
  await symlink('elsewhere', join(path, 'folder'))
  expect((await diffOf(fixture)).files.map(({ path, status, new_mode }) => [path, status, new_mode])).toEqual([
    ['folder', 'added', '120000'],
    ['folder/one.txt', 'deleted', null],
    ['folder/two.txt', 'deleted', null],
  ])
  await repository.git(['add', '--all'], { cwd: path })
  await repository.git(['commit', '-q', '-m', 'Link it'], { cwd: path })
  await unlink(join(path, 'folder'))
  await repository.write({ 'folder/three.txt': '3\n' }, path)
  expect((await diffOf(fixture)).files.map(({ path, status, old_mode }) => [path, status, old_mode])).toEqual([
    ['folder', 'deleted', '120000'],
    ['folder/three.txt', 'added', null],
  ])
})

test('shows added, moved and removed submodules whatever their settings, but not their own changes', async () => {
  await using library = await createTestRepository()
  await using fixture = await withWorktree()
  const { repository, path } = fixture
  const allow = ['-c', 'protocol.file.allow=always']
  await repository.git([...allow, 'submodule', '--quiet', 'add', library.path, 'lib'], { cwd: path })
  const first = await repository.git(['rev-parse', 'HEAD'], { cwd: join(path, 'lib') })
  expect((await diffOf(fixture)).files).toMatchObject([
    { path: '.gitmodules', status: 'added' },
    { path: 'lib', status: 'added', new_mode: '160000', blob: first },
  ])
  await repository.git(['config', '--file', '.gitmodules', 'submodule.lib.ignore', 'all'], { cwd: path })
  await repository.git(['add', '.gitmodules'], { cwd: path })
  await repository.git(['commit', '-q', '-m', 'Add the library'], { cwd: path })
  await repository.write({ 'lib/dirt.txt': 'd\n', 'lib/README.md': 'dirty\n' }, path)
  expect((await diffOf(fixture)).files).toEqual([])
  const second = await repository.commit('Ahead', { 'l.txt': 'l\n' }, join(path, 'lib'))
  expect((await diffOf(fixture)).files).toMatchObject([{ path: 'lib', status: 'modified', blob: second }])
  await rm(join(path, 'lib'), { recursive: true })
  await repository.git(['rm', '--quiet', '--cached', 'lib'], { cwd: path })
  expect((await diffOf(fixture)).files).toMatchObject([{ path: 'lib', status: 'deleted', old_mode: '160000' }])
})

test('shows everything as new against a base without files', async () => {
  await using fixture = await createFixture({ files: {} })
  await fixture.workspaces.ensure(fixture.request(), never)
  await fixture.repository.commit('Work', { 'done.txt': 'd\n' }, fixture.path)
  await fixture.repository.write({ 'todo.txt': 't\n' }, fixture.path)
  const { files } = await diffOf(fixture, 'branch')
  expect(files.map(({ path, status }) => [path, status])).toEqual([
    ['done.txt', 'added'],
    ['todo.txt', 'added'],
  ])
})

test('shows everything as new on a branch without a commit', async () => {
  await using fixture = await withWorktree({ 'a.txt': 'a\n' })
  const { repository, path } = fixture
  await repository.git(['checkout', '--quiet', '--orphan', 'fresh'], { cwd: path })
  await repository.write({ 'b.txt': 'b\n' }, path)
  for (const scope of ['uncommitted', 'branch'] as const) {
    const { base, files } = await diffOf(fixture, scope)
    expect(base).toBeNull()
    expect(files.map(({ path, status }) => [path, status])).toEqual([
      ['README.md', 'added'],
      ['a.txt', 'added'],
      ['b.txt', 'added'],
    ])
  }
})

test('hides no work if its start is no longer in the repository, or the base branch is gone', async () => {
  await using fixture = await withWorktree({ 'a.txt': 'a\n' })
  const { repository, path } = fixture
  const start = await repository.git(['rev-parse', 'main'])
  await repository.commit('Work', { 'done.txt': 'd\n' }, path)
  const gone = '0123456789abcdef0123456789abcdef01234567'
  const read = async (changes: Partial<Parameters<WorkspaceFixture['ref']>[0]>) =>
    await fixture.workspaces.diff(fixture.ref(changes), 'branch', null, never)
  expect(await read({ base_commit: gone })).toMatchObject({ base: start, files: [{ path: 'done.txt' }] })
  expect(await read({ base_branch: 'deleted', base_commit: start })).toMatchObject({ files: [{ path: 'done.txt' }] })
  const whole = await read({ base_branch: 'deleted', base_commit: gone })
  expect(whole.base).toBeNull()
  expect(whole.files.map(({ path }) => path)).toEqual(['README.md', 'a.txt', 'done.txt'])
  await repository.git(['merge', '--quiet', '--ff-only', await repository.git(['rev-parse', 'HEAD'], { cwd: path })])
  expect((await read({ base_commit: gone })).files).toEqual([])
})

test('counts a diff of 40 MB and 200,000 lines completely within its memory budget', async () => {
  await using fixture = await withWorktree()
  const text = lines(2_000, 'x'.repeat(200))
  const names = Array.from({ length: 100 }, (_, number) => `file-${String(number).padStart(3, '0')}.txt`)
  await fixture.repository.write(Object.fromEntries(names.map((name) => [name, text])), fixture.path)
  const { result, isOver } = await watchHeld(32 * 1024 * 1024, () => diffOf(fixture))
  const { files, patch } = result
  expect(files.reduce((sum, { additions }) => sum + additions, 0)).toBe(200_000)
  expect(patch.length).toBeLessThan(8 * 1024 * 1024)
  expect(files.filter(({ reason }) => reason === 'budget').length).toBeGreaterThan(50)
  expect(isOver).toBe(false)
})
