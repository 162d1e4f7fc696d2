import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { branch, createFixture, everything, never, withWork } from './workspace-fixture.ts'
import type { WorkspaceFixture } from './workspace-fixture.ts'

const parentsOf = async ({ repository }: WorkspaceFixture, commit: string): Promise<number> =>
  (await repository.git(['rev-list', '--parents', '-n1', commit])).split(' ').length - 1

test('creates a merge commit with two parents and the message, and updates the checkout', async () => {
  await using fixture = await withWork({ 'new/file.txt': 'new\n', 'a.txt': 'changed\n' })
  const { repository, workspaces } = fixture
  const message = 'Merge "Add a button"\n\nCopse-Task: 1\n'
  const result = await workspaces.merge(fixture.mergeRequest({ message }), never)
  const tip = await repository.git(['rev-parse', 'main'])
  expect(result).toEqual({ kind: 'merged', commit: tip })
  expect(await parentsOf(fixture, tip)).toBe(2)
  expect(await repository.git(['log', '-1', '--format=%B', 'main'])).toBe(`${message.trimEnd()}\n`)
  expect(await readFile(join(repository.path, 'new/file.txt'), 'utf8')).toBe('new\n')
  expect(await readFile(join(repository.path, 'a.txt'), 'utf8')).toBe('changed\n')
  expect(await repository.git(['status', '--porcelain'])).toBe('')
  expect(await repository.git(['reflog', '-1', '--format=%gs', 'HEAD'])).toBe(`copse: merge ${branch}`)
})

test('squashes many commits to one with one parent', async () => {
  await using fixture = await withWork({ 'one.txt': '1\n' })
  await fixture.repository.commit('Second', { 'two.txt': '2\n' }, fixture.path)
  const before = await fixture.repository.git(['rev-parse', 'main'])
  const result = await fixture.workspaces.merge(fixture.mergeRequest({ strategy: 'squash' }), never)
  expect(result.kind).toBe('merged')
  expect(await fixture.repository.git(['rev-parse', 'main^'])).toBe(before)
  expect(await fixture.repository.git(['ls-tree', '-r', '--name-only', 'main'])).toBe(
    'README.md\na.txt\none.txt\ntwo.txt',
  )
})

test('rebases commits with their authors, dates and messages', async () => {
  await using fixture = await withWork({ 'one.txt': '1\n' })
  const { repository } = fixture
  await repository.write({ 'two.txt': '2\n' }, fixture.path)
  await repository.git(['add', '.'], { cwd: fixture.path })
  const env = {
    GIT_AUTHOR_NAME: 'Grace Ünsal',
    GIT_AUTHOR_EMAIL: 'g@example.test',
    GIT_AUTHOR_DATE: '1700000000 +0530',
  }
  await repository.git(['commit', '-q', '-m', 'Second ü\n\nWith a body.'], { cwd: fixture.path, env })
  await repository.commit('Meanwhile', { 'b.txt': 'b\n' })
  const before = await repository.git(['rev-parse', 'main'])
  expect((await fixture.workspaces.merge(fixture.mergeRequest({ strategy: 'rebase' }), never)).kind).toBe('merged')
  expect(await repository.git(['log', '--format=%P %an %ae %ad %B', '--date=raw', '-1', 'main'])).toBe(
    `${await repository.git(['rev-parse', 'main^'])} Grace Ünsal g@example.test 1700000000 +0530 Second ü\n\nWith a body.\n`,
  )
  expect(await repository.git(['rev-parse', 'main~2'])).toBe(before)
  expect(await repository.git(['status', '--porcelain'])).toBe('')
})

test('fast-forwards a rebase on an unchanged target', async () => {
  await using fixture = await withWork({ 'one.txt': '1\n' })
  const head = await fixture.repository.git(['rev-parse', branch])
  expect(await fixture.workspaces.merge(fixture.mergeRequest({ strategy: 'rebase' }), never)).toEqual({
    kind: 'merged',
    commit: head,
  })
})

test('leaves out of a rebase what the target already has', async () => {
  await using fixture = await withWork({ 'one.txt': '1\n' })
  await fixture.repository.git(['cherry-pick', branch])
  await fixture.repository.commit('Second', { 'two.txt': '2\n' }, fixture.path)
  await fixture.workspaces.merge(fixture.mergeRequest({ strategy: 'rebase' }), never)
  expect(await fixture.repository.git(['log', '--format=%s', 'main'])).toBe('Second\nWork on it\nFirst commit')
})

test('keeps the resolution of a branch that resolved a merge, in one commit', async () => {
  await using fixture = await withWork({ 'a.txt': 'ours\n' })
  const { repository } = fixture
  await repository.commit('Meanwhile', { 'a.txt': 'theirs\n' })
  await repository.git(['merge', 'main'], { cwd: fixture.path }).catch(() => undefined)
  await repository.commit('Resolve', { 'a.txt': 'both\n' }, fixture.path)
  await repository.commit('Meanwhile again', { 'b.txt': 'b\n' })
  expect((await fixture.workspaces.merge(fixture.mergeRequest({ strategy: 'rebase' }), never)).kind).toBe('merged')
  expect(await readFile(join(repository.path, 'a.txt'), 'utf8')).toBe('both\n')
  expect(await parentsOf(fixture, 'main')).toBe(1)
})

test.each(['merge', 'squash', 'rebase'] as const)(
  'lists files and hunks of a conflict (%s), and changes nothing',
  async (strategy) => {
    await using fixture = await withWork(
      { 'a.txt': 'ours\n', 'ü b.txt': 'ours\n', 'fine.txt': 'f\n' },
      { 'ü b.txt': 'b\n' },
    )
    await fixture.repository.commit('Meanwhile', { 'a.txt': 'theirs\n', 'ü b.txt': 'theirs\n' })
    await fixture.repository.write({ 'a.txt': 'dirty too\n', 'untracked.txt': 'u\n' })
    const before = await everything(fixture)
    expect(await fixture.workspaces.merge(fixture.mergeRequest({ strategy }), never)).toEqual({
      kind: 'conflict',
      files: ['a.txt', 'ü b.txt'],
      hunks: ['a.txt', 'ü b.txt'].map((path) => ({
        path,
        kind: 'content',
        line: 1,
        text: `<<<<<<< main\ntheirs\n=======\nours\n>>>>>>> ${branch}\n`,
        truncated: false,
      })),
    })
    expect(await everything(fixture)).toEqual(before)
  },
)

test.each(['merge', 'squash', 'rebase'] as const)('merges twice (%s) to the same commit', async (strategy) => {
  await using fixture = await withWork({ 'one.txt': '1\n' })
  await fixture.repository.commit('Meanwhile', { 'b.txt': 'b\n' })
  const first = await fixture.workspaces.merge(fixture.mergeRequest({ strategy }), never)
  expect(first.kind).toBe('merged')
  expect(await fixture.workspaces.merge(fixture.mergeRequest({ strategy }), never)).toEqual(first)
})

test('does not ignore work on another branch than the task’s', async () => {
  await using fixture = await withWork({ 'one.txt': '1\n' })
  await fixture.repository.git(['switch', '-q', '-c', 'feature'], { cwd: fixture.path })
  await expect(fixture.workspaces.merge(fixture.mergeRequest(), never)).rejects.toMatchObject({
    code: 'git_failed',
    message: expect.stringContaining('on feature instead of'),
  })
})

test('merges when the worktree is gone', async () => {
  await using fixture = await withWork({ 'one.txt': '1\n' })
  await rm(fixture.path, { recursive: true })
  expect((await fixture.workspaces.merge(fixture.mergeRequest(), never)).kind).toBe('merged')
  await using second = await withWork({ 'one.txt': '1\n' })
  expect((await second.workspaces.merge(second.mergeRequest({ path: null }), never)).kind).toBe('merged')
})

test('merges two branches at once into one target', async () => {
  await using fixture = await withWork({ 'one.txt': '1\n' })
  const other = fixture.request({ path: join(fixture.root, 'other'), branch: 'other' })
  await fixture.workspaces.ensure(other, never)
  await fixture.repository.commit('Other work', { 'two.txt': '2\n' }, other.path)
  const results = await Promise.all([
    fixture.workspaces.merge(fixture.mergeRequest(), never),
    fixture.workspaces.merge(fixture.mergeRequest({ branch: 'other', path: other.path }), never),
  ])
  expect(results.map(({ kind }) => kind)).toEqual(['merged', 'merged'])
  expect(await fixture.repository.git(['ls-files'])).toBe('README.md\na.txt\none.txt\ntwo.txt')
  expect(await fixture.repository.git(['status', '--porcelain'])).toBe('')
})

test('reports branches without a common history', async () => {
  await using fixture = await createFixture()
  await fixture.repository.git(['checkout', '-q', '--orphan', branch])
  await fixture.repository.commit('Unrelated', { 'x.txt': 'x\n' })
  await fixture.repository.git(['switch', '-q', 'main'])
  await expect(fixture.workspaces.merge(fixture.mergeRequest({ path: null }), never)).rejects.toMatchObject({
    code: 'git_failed',
  })
})

test('merges into a bare repository', async () => {
  await using fixture = await withWork({ 'one.txt': '1\n' })
  const bare = join(fixture.repository.beside, 'bare.git')
  await fixture.repository.git(['clone', '-q', '--bare', fixture.repository.path, bare])
  const merged = await fixture.workspaces.merge(fixture.mergeRequest({ repo_path: bare, path: null }), never)
  expect(merged).toEqual({ kind: 'merged', commit: await fixture.repository.git(['rev-parse', 'main'], { cwd: bare }) })
})
