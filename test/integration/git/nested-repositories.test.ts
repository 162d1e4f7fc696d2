import { appendFile, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { removal, rescues } from './rescue-fixture.ts'
import { createFixture, never, taskId, type WorkspaceFixture } from './workspace-fixture.ts'

/** A worktree with a tracked file. */
async function withWorktree(): Promise<WorkspaceFixture> {
  const fixture = await createFixture({ files: { 'README.md': '# Example\n', '.gitignore': 'skipped/\n' } })
  await fixture.workspaces.ensure(fixture.request(), never)
  return fixture
}

/** Creates a repository inside the worktree with these files, committed or not. */
async function nest(
  { repository, path }: WorkspaceFixture,
  folder: string,
  files: Readonly<Record<string, string>>,
  commit: boolean,
): Promise<string> {
  const cwd = join(path, folder)
  await mkdir(cwd, { recursive: true })
  await repository.git(['init', '--quiet', '--initial-branch=main'], { cwd })
  await repository.write(files, cwd)
  if (commit) {
    await repository.git(['add', '--all'], { cwd })
    await repository.git(['commit', '--quiet', '--message', 'Inside'], { cwd })
  }
  return cwd
}

const pathsOf = async (fixture: WorkspaceFixture, scope: 'uncommitted' | 'branch') =>
  (await fixture.workspaces.diff(fixture.ref(), scope, null, never)).files.map(({ path }) => path)

/** How a repository comes into a worktree → the files that it leaves there. */
const kinds: readonly [string, (fixture: WorkspaceFixture) => Promise<void>][] = [
  [
    'without a commit',
    async (fixture) => {
      await nest(fixture, 'deep/tool', { 'a.txt': 'a\n', 'sub/b.txt': 'b\n' }, false)
    },
  ],
  [
    'with commits and more beside them',
    async (fixture) => {
      const cwd = await nest(fixture, 'deep/tool', { 'a.txt': 'a\n' }, true)
      await fixture.repository.write({ 'sub/b.txt': 'b\n' }, cwd)
    },
  ],
  [
    'that the agent has committed as a link',
    async (fixture) => {
      await nest(fixture, 'deep/tool', { 'a.txt': 'a\n', 'sub/b.txt': 'b\n' }, true)
      await fixture.repository.git(['add', '--all'], { cwd: fixture.path })
      await fixture.repository.git(['commit', '--quiet', '--message', 'A link'], { cwd: fixture.path })
    },
  ],
  [
    'inside another one',
    async (fixture) => {
      await nest(fixture, 'deep/tool', { 'a.txt': 'a\n' }, true)
      await nest(fixture, 'deep/tool/sub', { 'b.txt': 'b\n' }, true)
    },
  ],
]

test.each(kinds)('includes the files of a repository %s in diff, work and merge', async (_what, make) => {
  await using fixture = await withWorktree()
  const { repository, workspaces, path } = fixture
  await make(fixture)
  await repository.write({ 'skipped/.git/HEAD': 'ref: refs/heads/main\n', 'skipped/x.txt': 'x\n' }, path)
  expect(await pathsOf(fixture, 'branch')).toEqual(['deep/tool/a.txt', 'deep/tool/sub/b.txt'])
  expect(await pathsOf(fixture, 'uncommitted')).toEqual(
    expect.arrayContaining(['deep/tool/a.txt', 'deep/tool/sub/b.txt']),
  )
  const diff = await workspaces.diff(fixture.ref(), 'branch', null, never)
  expect(diff.patch).not.toContain('Subproject')
  const work = await workspaces.work(fixture.ref(), never)
  expect(work?.tree).toBe(diff.tree)
  if (work === null) return
  await workspaces.commitWork(fixture.ref(), work, 'Keep', never)
  expect(await workspaces.merge(fixture.mergeRequest(), never)).toMatchObject({ kind: 'merged' })
  const merged = await repository.git(['ls-tree', '-r', 'main', '--', 'deep'])
  expect(merged.split('\n').map((line) => line.split(/\s/).at(0))).toEqual(['100644', '100644'])
  expect(await repository.git(['show', 'main:deep/tool/sub/b.txt'])).toBe('b')
  expect(await pathsOf(fixture, 'uncommitted')).toEqual([])
})

test('excludes another worktree of the same repository', async () => {
  await using fixture = await withWorktree()
  const { repository, path } = fixture
  await repository.git(['worktree', 'add', '--quiet', '-b', 'side', join(path, 'side')], { cwd: path })
  await repository.write({ 'own.txt': 'own\n' }, path)
  expect(await pathsOf(fixture, 'branch')).toEqual(['own.txt'])
})

test('respects a nested repository’s own ignore rules', async () => {
  await using fixture = await withWorktree()
  const cwd = await nest(
    fixture,
    'tool',
    { '.gitignore': '*.log\n', 'a.txt': 'a\n', 'b.log': 'b\n', 'c.tmp': 'c\n' },
    false,
  )
  await appendFile(join(cwd, '.git/info/exclude'), '*.tmp\n')
  expect(await pathsOf(fixture, 'branch')).toEqual(['tool/.gitignore', 'tool/a.txt'])
})

test('treats a nested repository’s changes and deletions like any other', async () => {
  await using fixture = await withWorktree()
  const { repository, workspaces } = fixture
  const cwd = await nest(fixture, 'tool', { 'a.txt': 'a\n', 'b.txt': 'b\n' }, true)
  const work = await workspaces.work(fixture.ref(), never)
  if (work) await workspaces.commitWork(fixture.ref(), work, 'Keep', never)
  await rm(join(cwd, 'b.txt'))
  await repository.write({ 'a.txt': 'changed\n' }, cwd)
  const { files } = await workspaces.diff(fixture.ref(), 'uncommitted', null, never)
  expect(files.map(({ path, status }) => `${status} ${path}`)).toEqual(['modified tool/a.txt', 'deleted tool/b.txt'])
})

test('includes its files in every automatic commit', async () => {
  await using fixture = await withWorktree()
  await nest(fixture, 'tool', { 'a.txt': 'a\n' }, true)
  await nest(fixture, 'empty', { 'b.txt': 'b\n' }, false)
  await fixture.workspaces.commitAll(fixture.path, 'Keep', never)
  const tracked = await fixture.repository.git(['ls-tree', '-r', '--name-only', 'HEAD'], { cwd: fixture.path })
  expect(tracked.split('\n')).toEqual(['.gitignore', 'README.md', 'empty/b.txt', 'tool/a.txt'])
})

test('keeps files and history of a nested repository as rescues when a worktree is removed', async () => {
  await using fixture = await withWorktree()
  const { repository, path, workspaces } = fixture
  const cwd = await nest(fixture, 'tool', { 'a.txt': 'first\n' }, true)
  const first = await repository.git(['rev-parse', 'HEAD'], { cwd })
  await repository.git(['rm', '--quiet', 'a.txt'], { cwd })
  await repository.git(['commit', '--quiet', '--message', 'Second'], { cwd })
  await repository.write({ 'loose.txt': 'loose\n' }, cwd)
  await nest(fixture, 'bare', { 'c.txt': 'c\n' }, false)
  await workspaces.remove(removal(fixture), never)
  expect(await repository.git(['worktree', 'list'])).not.toContain(path)
  const kept = await rescues(fixture)
  const uncommitted = kept.find(({ kind }) => kind === 'uncommitted')?.ref ?? ''
  expect(await repository.git(['show', `${uncommitted}:tool/loose.txt`])).toBe('loose')
  expect(await repository.git(['show', `${uncommitted}:bare/c.txt`])).toBe('c')
  const refs = kept.map(({ ref }) => ref)
  expect(await repository.git(['for-each-ref', '--contains', first, '--format=%(refname)'])).toSatisfy((text: string) =>
    refs.includes(text.split('\n')[0] ?? ''),
  )
  expect(await repository.git(['show', `${first}:a.txt`])).toBe('first')
  expect(kept.every(({ ref }) => ref.includes(taskId))).toBe(true)
})

test('never expires a rescue that a link on a branch still needs', async () => {
  await using fixture = await withWorktree()
  const { repository, workspaces } = fixture
  const cwd = await nest(fixture, 'tool', { 'a.txt': 'a\n' }, true)
  const linked = await repository.git(['rev-parse', 'HEAD'], { cwd })
  await repository.git(['add', 'tool'], { cwd: fixture.path })
  await repository.git(['commit', '--quiet', '--message', 'A link'], { cwd: fixture.path })
  await workspaces.remove(removal(fixture), never)
  const kept = await rescues(fixture)
  const needed = kept.find(({ commit }) => commit === linked)
  expect(needed).toMatchObject({ submodule: 'tool' })
  const later = Date.UTC(2030, 0, 1)
  expect(await workspaces.expireRescues(repository.path, later, never)).not.toContain(needed?.ref)
  await repository.git(['branch', '--quiet', '-D', fixture.ref().branch])
  expect(await workspaces.expireRescues(repository.path, later, never)).toContain(needed?.ref)
})
