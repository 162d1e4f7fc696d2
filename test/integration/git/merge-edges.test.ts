import { chmod, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { identify } from '../../../src-main/platform/process/process.ts'
import type { ConflictKind } from '../../../src-shared/contract/conflicts.ts'
import {
  branch,
  createFixture,
  everything,
  never,
  taskId,
  withWork,
  type WorkspaceFixture,
} from './workspace-fixture.ts'

type Change = (git: (...args: string[]) => Promise<string>, place: string) => Promise<unknown>

const write =
  (name: string, content: string | Uint8Array): Change =>
  (_git, place) =>
    writeFile(join(place, name), content)
const link =
  (to: string): Change =>
  async (_git, place) => {
    await rm(join(place, 'link'), { force: true })
    await symlink(to, join(place, 'link'))
  }
const submodule =
  (digit: string): Change =>
  (git) =>
    git('update-index', '--add', '--cacheinfo', `160000,${digit.repeat(40)},sub`)

/** A fixture in which `given`, `ours` (on main) and `theirs` (on the branch) were committed. */
async function diverged(given: Change, ours: Change, theirs: Change): Promise<WorkspaceFixture> {
  const fixture = await createFixture({ files: { 'a.txt': 'a\n', 'lines.txt': 'one\ntwo\nthree\nfour\nfive\n' } })
  const change = async (make: Change, cwd: string) => {
    const git = (...args: string[]) => fixture.repository.git(args, { cwd })
    await make(git, cwd)
    // A submodule exists only in the index.
    await git('add', '--', '.', ':(exclude)sub')
    await git('commit', '-q', '--allow-empty', '-m', 'Change')
  }
  await change(given, fixture.repository.path)
  await fixture.workspaces.ensure(fixture.request(), never)
  await change(theirs, fixture.path)
  await change(ours, fixture.repository.path)
  return fixture
}

const nothing: Change = () => Promise.resolve()
const binary = (last: number) => write('pixel.bin', new Uint8Array([0, 1, 2, 255, last]))
const removed: Change = (git) => git('rm', '-q', 'lines.txt')
const edited = write('lines.txt', 'one\ntwo\nthree\nfour\nfive and more\n')
const moved =
  (to: string): Change =>
  (git) =>
    git('mv', 'lines.txt', to)

test.each<[string, Change, Change, Change, Record<string, ConflictKind>]>([
  ['the same lines', nothing, write('a.txt', 'x\n'), write('a.txt', 'y\n'), { 'a.txt': 'content' }],
  ['a binary file', binary(1), binary(2), binary(3), { 'pixel.bin': 'binary' }],
  ['a file added twice', nothing, write('new.txt', 'x\n'), write('new.txt', 'y\n'), { 'new.txt': 'add/add' }],
  ['a file deleted here and changed there', nothing, removed, edited, { 'lines.txt': 'modify/delete' }],
  ['a file changed here and deleted there', nothing, edited, removed, { 'lines.txt': 'modify/delete' }],
  ['a file renamed here and deleted there', nothing, moved('renamed.txt'), removed, { 'renamed.txt': 'rename/delete' }],
  [
    'a file renamed twice',
    nothing,
    moved('left.txt'),
    moved('right.txt'),
    { 'left.txt': 'rename/rename', 'lines.txt': 'rename/rename', 'right.txt': 'rename/rename' },
  ],
  ['a symlink', link('a.txt'), link('lines.txt'), link('./a.txt'), { link: 'symlink' }],
  ['a submodule', submodule('1'), submodule('2'), submodule('3'), { sub: 'submodule' }],
  [
    'line ends',
    write('crlf.txt', 'one\r\ntwo\r\n'),
    write('crlf.txt', 'one\r\n2\r\n'),
    write('crlf.txt', 'one\ntwo\n'),
    { 'crlf.txt': 'content' },
  ],
])(
  'reports the kind of a conflict over %s by merge and by update, and changes nothing',
  async (_n, given, ours, theirs, kinds) => {
    await using fixture = await diverged(given, ours, theirs)
    const before = await everything(fixture)
    const merged = await fixture.workspaces.merge(fixture.mergeRequest(), never)
    const found = merged.kind === 'conflict' ? merged : null
    expect(found?.files.toSorted()).toEqual(Object.keys(kinds))
    expect(Object.fromEntries((found?.hunks ?? []).map((hunk) => [hunk.path, hunk.kind]))).toEqual(kinds)
    const { files, hunks } = await fixture.workspaces.conflicts(fixture.mergeRequest(), never)
    expect({ files, hunks }).toEqual({ files: found?.files, hunks: found?.hunks })
    const request = {
      ...fixture.ref(),
      task_id: taskId,
      strategy: 'merge',
      message: 'Merge\n',
      keep_message: 'Keep\n',
    } as const
    const reported = await fixture.workspaces.updateBranch({ ...request, on_conflict: 'report' }, never)
    expect(reported.kind === 'conflict' && reported.files.toSorted()).toEqual(Object.keys(kinds))
    expect(await everything(fixture)).toEqual(before)
    // A file left in the worktree does not count as resolved, even if it can't have markers.
    if ('sub' in kinds) return
    const left = await fixture.workspaces.updateBranch({ ...request, on_conflict: 'leave' }, never)
    expect(left.kind === 'conflict' && left.left && left.files.toSorted()).toEqual(Object.keys(kinds))
    expect(await fixture.workspaces.updateBranch({ ...request, on_conflict: 'report' }, never)).toMatchObject({
      kind: 'conflict',
      left: true,
    })
  },
)

test('shows conflicting lines with DOS line ends whole', async () => {
  await using fixture = await diverged(
    write('crlf.txt', 'one\r\ntwo\r\n'),
    write('crlf.txt', 'one\r\n2\r\n'),
    write('crlf.txt', 'one\r\nzwei\r\n'),
  )
  const merged = await fixture.workspaces.merge(fixture.mergeRequest(), never)
  expect(merged.kind === 'conflict' && merged.hunks[0]?.text).toBe(
    `one\r\n<<<<<<< main\r\n2\r\n=======\r\nzwei\r\n>>>>>>> ${branch}\r\n`,
  )
})

test('keeps a rename that differs in case only, and a user’s file beside it', async () => {
  await using fixture = await withWork({})
  const { repository, workspaces } = fixture
  await repository.git(['mv', 'README.md', 'readme.md'], { cwd: fixture.path })
  await repository.commit('Rename', {}, fixture.path)
  await writeFile(join(repository.path, 'readme.md'), 'mine\n')
  if ((await readFile(join(repository.path, 'README.md'), 'utf8')) !== 'mine\n') {
    expect(await workspaces.merge(fixture.mergeRequest(), never)).toEqual({
      kind: 'target_dirty',
      files: ['readme.md'],
    })
    expect(await readFile(join(repository.path, 'readme.md'), 'utf8')).toBe('mine\n')
    await rm(join(repository.path, 'readme.md'))
  } else await repository.git(['checkout', '-q', '--', 'README.md'])
  expect((await workspaces.merge(fixture.mergeRequest(), never)).kind).toBe('merged')
  expect(await repository.git(['ls-files'])).toBe('a.txt\nreadme.md')
  expect(await repository.git(['status', '--porcelain'])).toBe('')
})

test.each(['merge', 'squash', 'rebase'] as const)(
  'merges a branch without a commit of its own by doing nothing (%s)',
  async (strategy) => {
    await using fixture = await createFixture()
    await fixture.workspaces.ensure(fixture.request(), never)
    const base_commit = await fixture.repository.git(['rev-parse', 'main'])
    const tip = await fixture.repository.commit('Meanwhile', { 'b.txt': 'b\n' })
    const merged = await fixture.workspaces.merge(fixture.mergeRequest({ strategy, base_commit }), never)
    expect(merged).toEqual({ kind: 'merged', commit: tip, empty: true })
    expect(await fixture.repository.git(['rev-parse', 'main'])).toBe(tip)
  },
)

test('updates both worktrees with the base checked out, or none', async () => {
  await using fixture = await withWork({ 'a.txt': 'task\n' })
  const { repository, workspaces } = fixture
  const second = join(repository.beside, 'second')
  await repository.git(['worktree', 'add', '-q', '--force', second, 'main'])
  await writeFile(join(second, 'a.txt'), 'mine\n')
  const before = await everything(fixture)
  expect(await workspaces.merge(fixture.mergeRequest(), never)).toEqual({ kind: 'target_dirty', files: ['a.txt'] })
  expect(await everything(fixture)).toEqual(before)
  await repository.git(['checkout', '-q', '--', 'a.txt'], { cwd: second })
  expect((await workspaces.merge(fixture.mergeRequest(), never)).kind).toBe('merged')
  for (const cwd of [repository.path, second]) {
    expect(await readFile(join(cwd, 'a.txt'), 'utf8')).toBe('task\n')
    expect(await repository.git(['status', '--porcelain'], { cwd })).toBe('')
  }
})

test('leaves a checkout that is detached at the base where it is', async () => {
  await using fixture = await withWork({ 'a.txt': 'task\n' })
  const { repository, workspaces } = fixture
  await repository.git(['switch', '-q', '--detach', 'main'])
  await repository.write({ 'a.txt': 'mine\n' })
  const head = await repository.git(['rev-parse', 'HEAD'])
  expect((await workspaces.merge(fixture.mergeRequest(), never)).kind).toBe('merged')
  expect(await repository.git(['rev-parse', 'HEAD'])).toBe(head)
  expect(await repository.git(['status', '--porcelain'])).toBe(' M a.txt')
  expect(await repository.git(['show', 'main:a.txt'])).toBe('task')
})

test('does not move a base that the user is rebasing', async () => {
  await using fixture = await withWork({ 'one.txt': '1\n' })
  const { repository, workspaces } = fixture
  await repository.git(['switch', '-q', '-c', 'upstream'])
  await repository.commit('Upstream', { 'a.txt': 'upstream\n' })
  await repository.git(['switch', '-q', 'main'])
  await repository.commit('Mine', { 'a.txt': 'mine\n' })
  await repository.git(['rebase', '-q', 'upstream']).catch(() => undefined)
  const before = await everything(fixture)
  const refusal = { code: 'unfinished_merge', message: expect.stringContaining('git rebase --continue') }
  await expect(workspaces.checkTarget(fixture.ref(), never)).rejects.toMatchObject(refusal)
  await expect(workspaces.merge(fixture.mergeRequest(), never)).rejects.toMatchObject(refusal)
  expect(await everything(fixture)).toEqual(before)
  await repository.write({ 'a.txt': 'both\n' })
  await repository.git(['add', '.'])
  await repository.git(['-c', 'core.editor=true', 'rebase', '--continue'])
  expect((await workspaces.merge(fixture.mergeRequest(), never)).kind).toBe('merged')
  expect(await repository.git(['ls-files'])).toBe('README.md\na.txt\none.txt')
})

test('reports a worktree on another branch before anything is merged', async () => {
  await using fixture = await withWork({ 'one.txt': '1\n' })
  await fixture.repository.git(['switch', '-q', '-c', 'feature'], { cwd: fixture.path })
  await expect(fixture.workspaces.checkTarget(fixture.ref(), never)).rejects.toMatchObject({ code: 'git_failed' })
})

test("uses the repository's merge driver, and leaves the user's files alone", async () => {
  await using fixture = await withWork({ 'a.txt': 'task\n' }, { '.gitattributes': 'a.txt merge=both\n' })
  const { repository, workspaces } = fixture
  await repository.git(['config', 'merge.both.driver', 'cat %B >> %A'])
  await repository.commit('Meanwhile', { 'a.txt': 'user\n' })
  await repository.write({ 'u.txt': 'untracked\n' })
  expect((await workspaces.merge(fixture.mergeRequest(), never)).kind).toBe('merged')
  expect(await readFile(join(repository.path, 'a.txt'), 'utf8')).toBe('user\ntask\n')
  expect(await repository.git(['status', '--porcelain'])).toBe('?? u.txt')
})

test('merges modes, links and files that become folders from both sides', async () => {
  await using fixture = await withWork(
    { 'run.sh': '#!/bin/sh\n' },
    { thing: 'a file\n', 'old name.txt': 'kept\n'.repeat(9) },
  )
  const { repository, workspaces, path } = fixture
  await chmod(join(path, 'run.sh'), 0o755)
  await rm(join(path, 'thing'))
  await repository.write({ 'thing/inside.txt': 'in\n' }, path)
  await rename(join(path, 'old name.txt'), join(path, 'nёw name.txt'))
  await symlink('a.txt', join(path, 'link'))
  await repository.commit('All of it', {}, path)
  await repository.commit('Meanwhile', { 'old name.txt': `${'kept\n'.repeat(9)}more\n` })
  expect((await workspaces.merge(fixture.mergeRequest(), never)).kind).toBe('merged')
  expect(await readFile(join(repository.path, 'nёw name.txt'), 'utf8')).toContain('more')
  expect(existsSync(join(repository.path, 'old name.txt'))).toBe(false)
  expect(await readlink(join(repository.path, 'link'))).toBe('a.txt')
  expect(await readFile(join(repository.path, 'thing/inside.txt'), 'utf8')).toBe('in\n')
  expect(await repository.git(['status', '--porcelain'])).toBe('')
})

test('leaves a move to a running service, and finishes that of a dead one', async () => {
  await using fixture = await withWork({ 'a.txt': 'task\n' })
  const { repository, workspaces } = fixture
  const [from, to] = [await repository.git(['rev-parse', 'main']), await repository.git(['rev-parse', branch])]
  const other = await identify(process.ppid)
  const note = join(repository.path, '.git/svc-pending-move-theirs.json')
  const lock = join(repository.path, '.git/index.lock')
  const text = (by: unknown) =>
    JSON.stringify({ branch: 'main', from, to, checkouts: [repository.path], token: 'theirs', by })
  await writeFile(note, text(other))
  await writeFile(lock, 'theirs')
  await repository.git(['update-ref', 'refs/heads/main', to, from])
  expect((await workspaces.merge(fixture.mergeRequest(), never)).kind).toBe('merged')
  expect([existsSync(note), await readFile(lock, 'utf8')]).toEqual([true, 'theirs'])
  expect(await readFile(join(repository.path, 'a.txt'), 'utf8')).toBe('a\n')
  await writeFile(note, text({ ...other, started: 'long ago' }))
  expect((await workspaces.merge(fixture.mergeRequest(), never)).kind).toBe('merged')
  expect([existsSync(note), existsSync(lock)]).toEqual([false, false])
  expect(await readFile(join(repository.path, 'a.txt'), 'utf8')).toBe('task\n')
  expect(await repository.git(['status', '--porcelain'])).toBe('')
})
