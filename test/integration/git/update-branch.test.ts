import { readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { UpdateRequest } from '../../../src-main/ports/branch-updater.ts'
import { branch, never, taskId, withWork, type WorkspaceFixture } from './workspace-fixture.ts'

const request = (fixture: WorkspaceFixture, more: Partial<UpdateRequest> = {}): UpdateRequest => ({
  ...fixture.ref(),
  task_id: taskId,
  strategy: 'merge',
  message: `Merge main into ${branch}\n`,
  keep_message: 'Keep uncommitted work\n',
  on_conflict: 'report',
  ...more,
})
const update = (fixture: WorkspaceFixture, more: Partial<UpdateRequest> = {}) =>
  fixture.workspaces.updateBranch(request(fixture, more), never)
const inWorktree = (fixture: WorkspaceFixture, ...args: string[]) => fixture.repository.git(args, { cwd: fixture.path })
/** Everything of the task's that an update could change. */
const stateOf = async (fixture: WorkspaceFixture) => [
  await inWorktree(fixture, 'rev-parse', 'HEAD'),
  await inWorktree(fixture, 'status', '--porcelain', '--ignored'),
  await inWorktree(fixture, 'diff', 'HEAD'),
  await inWorktree(fixture, 'for-each-ref'),
]

test.each(['merge', 'rebase'] as const)('moves a branch without own commits to its base (%s)', async (strategy) => {
  await using fixture = await withWork({})
  await inWorktree(fixture, 'reset', '-q', '--hard', 'main')
  const base = await fixture.repository.commit('Meanwhile', { 'b.txt': 'b\n' })
  expect(await update(fixture, { strategy })).toEqual({
    kind: 'updated',
    strategy,
    head: base,
    base,
    rescue_ref: null,
  })
  expect(await inWorktree(fixture, 'status', '--porcelain')).toBe('')
  expect(await update(fixture, { strategy })).toEqual({ kind: 'up_to_date', head: base, base })
})

test('commits staged, changed and untracked files before the base comes in, but no ignored ones', async () => {
  await using fixture = await withWork({ 'one.txt': '1\n' }, { '.gitignore': '*.log\n' })
  const { repository, path } = fixture
  await repository.write({ 'a.txt': 'staged\n' }, path)
  await inWorktree(fixture, 'add', 'a.txt')
  await repository.write({ 'one.txt': 'changed\n', 'new/u.txt': 'untracked\n', 'x.log': 'ignored\n' }, path)
  await repository.commit('Meanwhile', { 'b.txt': 'b\n' })
  expect((await update(fixture)).kind).toBe('updated')
  expect(await inWorktree(fixture, 'status', '--porcelain', '--ignored')).toBe('!! x.log')
  expect(await inWorktree(fixture, 'log', '--first-parent', '--format=%s', '-3')).toBe(
    `Merge main into ${branch}\nKeep uncommitted work\nWork on it`,
  )
  expect(await inWorktree(fixture, 'show', 'HEAD:new/u.txt', 'HEAD:a.txt', 'HEAD:one.txt')).toBe(
    'untracked\nstaged\nchanged',
  )
})

test.each(['merge', 'rebase'] as const)(
  'changes nothing after a conflict of uncommitted work (%s)',
  async (strategy) => {
    await using fixture = await withWork({ 'one.txt': '1\n' })
    await fixture.repository.write({ 'a.txt': 'mine\n', 'u.txt': 'u\n' }, fixture.path)
    await fixture.repository.commit('Meanwhile', { 'a.txt': 'theirs\n' })
    const before = await stateOf(fixture)
    const found = await update(fixture, { strategy })
    expect(found).toMatchObject({ kind: 'conflict', left: false, files: ['a.txt'] })
    const [ours, theirs] = strategy === 'merge' ? [branch, 'main'] : ['main', branch]
    const [first, second] = strategy === 'merge' ? ['mine', 'theirs'] : ['theirs', 'mine']
    expect(found.kind === 'conflict' && found.hunks).toEqual([
      {
        path: 'a.txt',
        kind: 'content',
        line: 1,
        text: `<<<<<<< ${ours}\n${first}\n=======\n${second}\n>>>>>>> ${theirs}\n`,
        truncated: false,
      },
    ])
    expect(await stateOf(fixture)).toEqual(before)
  },
)

test('keeps the commits that a rebase replaces, with their authors on the new ones', async () => {
  await using fixture = await withWork({ 'one.txt': '1\n' })
  const before = await inWorktree(fixture, 'rev-parse', 'HEAD')
  const base = await fixture.repository.commit('Meanwhile', { 'b.txt': 'b\n' })
  const updated = await update(fixture, { strategy: 'rebase' })
  const head = await inWorktree(fixture, 'rev-parse', 'HEAD')
  const rescue_ref = `refs/svc/rescue/${taskId}/20261121T093000000Z`
  expect(updated).toEqual({ kind: 'updated', strategy: 'rebase', head, base, rescue_ref })
  expect(await inWorktree(fixture, 'rev-parse', `${head}^`, rescue_ref)).toBe(`${base}\n${before}`)
  expect(await inWorktree(fixture, 'log', '-1', '--format=%an %s')).toBe('Copse tests Work on it')
})

test('merges instead of a rebase if the branch resolved a merge itself', async () => {
  await using fixture = await withWork({ 'a.txt': 'ours\n' })
  const { repository, path } = fixture
  await repository.commit('Meanwhile', { 'a.txt': 'theirs\n' })
  await inWorktree(fixture, 'merge', 'main').catch(() => undefined)
  await repository.commit('Resolve', { 'a.txt': 'both\n' }, path)
  await repository.commit('Meanwhile again', { 'b.txt': 'b\n' })
  expect(await update(fixture, { strategy: 'rebase' })).toMatchObject({
    kind: 'updated',
    strategy: 'merge',
    rescue_ref: null,
  })
  expect(await readFile(join(path, 'a.txt'), 'utf8')).toBe('both\n')
})

test('leaves a merge with its markers in the worktree, and concludes it once resolved', async () => {
  await using fixture = await withWork({ 'a.txt': 'ours\n' })
  const { repository, path } = fixture
  const head = await inWorktree(fixture, 'rev-parse', 'HEAD')
  const base = await repository.commit('Meanwhile', { 'a.txt': 'theirs\n', 'b.txt': 'b\n' })
  const left = await update(fixture, { on_conflict: 'leave' })
  expect(left).toMatchObject({ kind: 'conflict', left: true, head, base, files: ['a.txt'] })
  expect(await readFile(join(path, 'a.txt'), 'utf8')).toBe(`<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> ${base}\n`)
  expect(await update(fixture)).toEqual(left)
  await expect(fixture.workspaces.commitAll(path, 'Too early\n', never)).rejects.toMatchObject({
    code: 'unfinished_merge',
  })
  await writeFile(join(path, 'a.txt'), 'both\n')
  const done = await update(fixture)
  expect(done).toMatchObject({ kind: 'updated', strategy: 'merge', base })
  expect(await inWorktree(fixture, 'log', '-1', '--format=%P %s')).toBe(`${head} ${base} Merge main into ${branch}`)
  expect(await inWorktree(fixture, 'status', '--porcelain')).toBe('')
})

test('brings in a base that moved on during a left merge afterwards', async () => {
  await using fixture = await withWork({ 'a.txt': 'ours\n' })
  await fixture.repository.commit('Meanwhile', { 'a.txt': 'theirs\n' })
  await update(fixture, { on_conflict: 'leave' })
  const base = await fixture.repository.commit('Further', { 'b.txt': 'b\n' })
  expect(await update(fixture)).toMatchObject({ kind: 'conflict', left: true, files: ['a.txt'] })
  await writeFile(join(fixture.path, 'a.txt'), 'both\n')
  expect(await update(fixture)).toMatchObject({ kind: 'updated', base })
  expect(await readFile(join(fixture.path, 'b.txt'), 'utf8')).toBe('b\n')
})

test('finds a conflict where git leaves markers, until someone resolves it', async () => {
  await using fixture = await withWork({ 'a.txt': '', 'dir/c.txt': '' }, { 'a.txt': 'one\n' })
  const { repository, path } = fixture
  await repository.git(['rm', '-q', 'a.txt'])
  const base = await repository.commit('Meanwhile', { 'dir/c.txt': 'one\none\n' })
  const hunk = { path: 'dir/c.txt', kind: 'rename/collision', line: 1 }
  const expected = { kind: 'conflict', base, files: ['dir/c.txt'], hunks: [hunk] }
  expect(await update(fixture)).toMatchObject({ ...expected, left: false })
  expect(await inWorktree(fixture, 'status', '--porcelain')).toBe('')
  await expect(fixture.workspaces.merge(fixture.mergeRequest(), never)).resolves.toMatchObject({ kind: 'conflict' })
  const left = await update(fixture, { on_conflict: 'leave' })
  expect(left).toMatchObject({ ...expected, left: true })
  expect(await inWorktree(fixture, 'status', '--porcelain', 'dir')).toBe('AA dir/c.txt')
  expect(await update(fixture)).toEqual(left)
  await expect(fixture.workspaces.commitAll(path, 'Too early\n', never)).rejects.toMatchObject({
    code: 'unfinished_merge',
  })
  await writeFile(join(path, 'dir/c.txt'), 'resolved\n')
  expect(await update(fixture)).toMatchObject({ kind: 'updated', strategy: 'merge', base })
  expect(await inWorktree(fixture, 'show', 'HEAD:dir/c.txt')).toBe('resolved')
  expect(await inWorktree(fixture, 'status', '--porcelain')).toBe('')
})

test('does not take a file with markers of unusual size for resolved', async () => {
  await using fixture = await withWork({ 'a.txt': 'ours\n' }, { '.gitattributes': 'a.txt conflict-marker-size=12\n' })
  await fixture.repository.commit('Meanwhile', { 'a.txt': 'theirs\n' })
  await update(fixture, { on_conflict: 'leave' })
  expect(await readFile(join(fixture.path, 'a.txt'), 'utf8')).toContain('<<<<<<<<<<<< HEAD')
  expect(await update(fixture)).toMatchObject({ kind: 'conflict', left: true, files: ['a.txt'] })
})

test.each<[string, (fixture: WorkspaceFixture) => Promise<unknown>, string]>([
  ['a rebase', (f) => inWorktree(f, 'rebase', 'main'), 'git rebase --continue'],
  ['a cherry-pick', (f) => inWorktree(f, 'cherry-pick', 'main'), 'git cherry-pick --continue'],
  [
    'a merge of something else',
    async (f) => {
      await inWorktree(f, 'branch', 'else', 'main')
      await f.repository.git(['reset', '-q', '--hard', 'HEAD^'])
      await inWorktree(f, 'merge', 'else')
    },
    'still has conflict markers',
  ],
])('leaves an unfinished %s in the worktree to whoever began it', async (_name, begin, words) => {
  await using fixture = await withWork({ 'a.txt': 'ours\n' })
  await fixture.repository.commit('Meanwhile', { 'a.txt': 'theirs\n' })
  await begin(fixture).catch(() => undefined)
  const before = await stateOf(fixture)
  for (const on_conflict of ['report', 'leave'] as const) {
    await expect(update(fixture, { on_conflict })).rejects.toMatchObject({
      code: 'unfinished_merge',
      message: expect.stringContaining(words),
    })
  }
  expect(await stateOf(fixture)).toEqual(before)
})

test.each(['report', 'leave'] as const)(
  'names ignored files in the way and does not overwrite them (%s)',
  async (on_conflict) => {
    await using fixture = await withWork({ 'a.txt': 'ours\n' }, { '.gitignore': '*.env\n' })
    const { repository, path } = fixture
    await repository.write({ 'x.env': 'secret\n' }, path)
    await repository.write({ 'x.env': 'tracked\n', ...(on_conflict === 'leave' && { 'a.txt': 'theirs\n' }) })
    await repository.git(['add', '--force', 'x.env'])
    await repository.commit('Track it', {})
    const before = await stateOf(fixture)
    expect(await update(fixture, { on_conflict })).toEqual({ kind: 'in_the_way', files: ['x.env'] })
    expect(await readFile(join(path, 'x.env'), 'utf8')).toBe('secret\n')
    expect(await stateOf(fixture)).toEqual(before)
  },
)

test('reports a deleted base and a deleted branch', async () => {
  await using fixture = await withWork({ 'one.txt': '1\n' })
  const { repository } = fixture
  await repository.git(['switch', '-q', '-c', 'elsewhere'])
  await repository.git(['branch', '-q', '-D', 'main'])
  const gone = (code: string, name: string) => ({ code, message: expect.stringContaining(`branch “${name}”`) })
  await expect(update(fixture)).rejects.toMatchObject(gone('branch_missing', 'main'))
  const merge = fixture.workspaces.merge(fixture.mergeRequest(), never)
  await expect(merge).rejects.toMatchObject(gone('git_failed', 'main'))
  await rm(fixture.path, { recursive: true })
  await repository.git(['worktree', 'prune'])
  await repository.git(['branch', '-q', 'main'])
  await repository.git(['branch', '-q', '-D', branch])
  await expect(update(fixture, { path: null })).rejects.toMatchObject(gone('branch_missing', branch))
})

test('updates a branch that is not checked out, and only reports a conflict', async () => {
  await using fixture = await withWork({ 'a.txt': 'ours\n' })
  const { repository } = fixture
  await repository.git(['worktree', 'remove', fixture.path])
  const base = await repository.commit('Meanwhile', { 'b.txt': 'b\n' })
  expect(await update(fixture, { path: null })).toMatchObject({ kind: 'updated', base })
  expect(await repository.git(['show', `${branch}:b.txt`])).toBe('b')
  await repository.commit('Conflict', { 'a.txt': 'theirs\n' })
  for (const on_conflict of ['report', 'leave'] as const) {
    expect(await update(fixture, { path: null, on_conflict })).toMatchObject({
      kind: 'conflict',
      left: false,
      files: ['a.txt'],
    })
  }
})

test('keeps a branch where someone else moved it', async () => {
  await using fixture = await withWork({ 'one.txt': '1\n' })
  const { repository, path } = fixture
  await repository.commit('Meanwhile', { 'b.txt': 'b\n' })
  const late = await repository.commit('Late', { 'late.txt': 'late\n' }, path)
  await inWorktree(fixture, 'reset', '-q', '--hard', 'HEAD^')
  const once = join(repository.beside, 'once')
  const move = `[ "$1" = prepared ] && [ ! -e '${once}' ] && touch '${once}' && git -C '${path}' reset -q --hard ${late}`
  const hook = join(repository.path, '.git/hooks/reference-transaction')
  await writeFile(
    hook,
    `#!/bin/sh\nread old new ref\n[ "$ref" = 'refs/heads/${branch}' ] && [ "$new" != ${late} ] && { ${move}; exit 1; }\nexit 0\n`,
    { mode: 0o755 },
  )
  await update(fixture).catch(() => undefined)
  await rm(hook)
  await inWorktree(fixture, 'reset', '-q', '--hard', late)
  expect((await update(fixture)).kind).toBe('updated')
  expect(await inWorktree(fixture, 'ls-files')).toBe('README.md\na.txt\nb.txt\nlate.txt\none.txt')
  expect(await inWorktree(fixture, 'status', '--porcelain')).toBe('')
})

test('follows no link in the place of a folder', async () => {
  await using fixture = await withWork({ 'one.txt': '1\n' }, { '.gitignore': 'out\n' })
  const { repository, path } = fixture
  const outside = join(repository.beside, 'outside')
  await repository.write({ 'mine.txt': 'mine\n' }, outside)
  await symlink(outside, join(path, 'out'))
  await repository.write({ 'out/mine.txt': 'theirs\n' })
  await repository.git(['add', '--force', 'out/mine.txt'])
  await repository.commit('Meanwhile', {})
  expect(await update(fixture)).toEqual({ kind: 'in_the_way', files: ['out'] })
  expect(await readFile(join(outside, 'mine.txt'), 'utf8')).toBe('mine\n')
})
