import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { branch, createFixture, everything, never, taskId, withWork } from './workspace-fixture.ts'
import type { WorkspaceFixture } from './workspace-fixture.ts'

const rescueRef = `refs/svc/rescue/${taskId}/20261121T093000000Z`

const discarding = (fixture: WorkspaceFixture) => ({
  repo_path: fixture.repository.path,
  path: fixture.path,
  branch,
  base_commit: null,
  task_id: taskId,
})
const refs = (fixture: WorkspaceFixture) => fixture.repository.git(['for-each-ref', '--format=%(refname)'])

test('commits and uncommitted files are kept under one ref, then worktree and branch are gone', async () => {
  await using fixture = await withWork({ 'work.txt': 'committed\n' })
  const { repository, path, workspaces } = fixture
  const tip = await repository.git(['rev-parse', branch])
  await repository.write({ 'new.txt': 'n\n' }, path)
  expect(await workspaces.discard(discarding(fixture), never)).toBe(rescueRef)
  expect(existsSync(path)).toBe(false)
  expect(await refs(fixture)).toBe(`refs/heads/main\n${rescueRef}`)
  expect(await repository.git(['rev-parse', `${rescueRef}^`])).toBe(tip)
  expect(await repository.git(['show', `${rescueRef}:new.txt`, `${rescueRef}:work.txt`])).toBe('n\ncommitted')
  expect(await repository.git(['worktree', 'list', '--porcelain'])).not.toContain(path)
})

test('committed work alone is kept too', async () => {
  await using fixture = await withWork({ 'work.txt': 'committed\n' })
  const tip = await fixture.repository.git(['rev-parse', branch])
  expect(await fixture.workspaces.discard(discarding(fixture), never)).toBe(rescueRef)
  expect(await fixture.repository.git(['rev-parse', rescueRef])).toBe(tip)
})

test('of a worktree without work nothing is kept, and a second time is harmless', async () => {
  await using fixture = await createFixture()
  await fixture.workspaces.ensure(fixture.request(), never)
  expect(await fixture.workspaces.discard(discarding(fixture), never)).toBeNull()
  expect(await fixture.workspaces.discard(discarding(fixture), never)).toBeNull()
  expect(await refs(fixture)).toBe('refs/heads/main')
})

test('with the directory gone already the branch is kept and deleted', async () => {
  await using fixture = await withWork({ 'work.txt': 'w\n' })
  await rm(fixture.path, { recursive: true })
  expect(await fixture.workspaces.discard(discarding(fixture), never)).toBe(rescueRef)
  expect(await refs(fixture)).toBe(`refs/heads/main\n${rescueRef}`)
})

test('work on another branch than the task’s, and on none, is kept as well', async () => {
  await using fixture = await withWork({ 'work.txt': 'w\n' })
  const { repository, path } = fixture
  const tip = await repository.git(['rev-parse', branch])
  await repository.git(['switch', '-q', '--detach', 'main'], { cwd: path })
  const loose = await repository.commit('On no branch', { 'loose.txt': 'l\n' }, path)
  await fixture.workspaces.discard(discarding(fixture), never)
  const kept = await repository.git(['for-each-ref', '--format=%(objectname)', `refs/svc/rescue/${taskId}/`])
  expect(kept.split('\n').toSorted()).toEqual([loose, tip].toSorted())
})

test('the next claim starts from where the base branch is by now', async () => {
  await using fixture = await withWork({ 'work.txt': 'w\n' })
  const { repository, path, workspaces } = fixture
  const base = await repository.commit('Meanwhile', { 'main.txt': 'm\n' })
  await workspaces.discard(discarding(fixture), never)
  expect(await workspaces.ensure(fixture.request(), never)).toEqual({
    kind: 'ready',
    how: 'created',
    base_commit: base,
  })
  expect((await readdir(path)).toSorted()).toEqual(['.git', 'README.md', 'a.txt', 'main.txt'])
})

test('a repository inside the worktree is kept before it is thrown away', async () => {
  await using fixture = await withWork({})
  const nested = join(fixture.path, 'nested')
  await fixture.repository.git(['init', '-q', nested])
  await fixture.repository.commit('Inner', { 'inner.txt': 'i\n' }, nested)
  await fixture.workspaces.discard(discarding(fixture), never)
  expect(existsSync(fixture.path)).toBe(false)
  const refs = await fixture.repository.git(['for-each-ref', '--format=%(refname)', 'refs/svc/rescue'])
  const shown = refs.split('\n').map((ref) => fixture.repository.git(['ls-tree', '-r', '--name-only', ref]))
  expect((await Promise.all(shown)).join('\n')).toContain('nested/inner.txt')
})

test('the repository itself, and a folder around it, are refused', async () => {
  await using fixture = await createFixture()
  const before = await everything(fixture)
  for (const path of [fixture.repository.path, join(fixture.repository.path, '..')]) {
    for (const call of ['discard', 'remove'] as const) {
      await expect(fixture.workspaces[call]({ ...discarding(fixture), path }, never)).rejects.toMatchObject({
        code: 'outside_worktree',
      })
    }
  }
  expect(await everything(fixture)).toEqual(before)
})

test('a branch that somebody has checked out elsewhere stays, and the failure says so', async () => {
  await using fixture = await withWork({ 'work.txt': 'w\n' })
  const { repository, path } = fixture
  await repository.git(['worktree', 'remove', '--force', path])
  await repository.git(['switch', '-q', branch])
  await expect(fixture.workspaces.discard(discarding(fixture), never)).rejects.toMatchObject({
    code: 'git_failed',
    message: expect.stringContaining(branch),
  })
  expect(await repository.git(['rev-parse', '--abbrev-ref', 'HEAD'])).toBe(branch)
})
