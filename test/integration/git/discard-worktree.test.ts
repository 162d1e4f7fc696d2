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

test('keeps commits and uncommitted files under one ref, then removes worktree and branch', async () => {
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

test('keeps committed work alone', async () => {
  await using fixture = await withWork({ 'work.txt': 'committed\n' })
  const tip = await fixture.repository.git(['rev-parse', branch])
  expect(await fixture.workspaces.discard(discarding(fixture), never)).toBe(rescueRef)
  expect(await fixture.repository.git(['rev-parse', rescueRef])).toBe(tip)
})

test('keeps nothing of a worktree without work, and may be repeated', async () => {
  await using fixture = await createFixture()
  await fixture.workspaces.ensure(fixture.request(), never)
  expect(await fixture.workspaces.discard(discarding(fixture), never)).toBeNull()
  expect(await fixture.workspaces.discard(discarding(fixture), never)).toBeNull()
  expect(await refs(fixture)).toBe('refs/heads/main')
})

test('keeps and deletes the branch when the folder is already gone', async () => {
  await using fixture = await withWork({ 'work.txt': 'w\n' })
  await rm(fixture.path, { recursive: true })
  expect(await fixture.workspaces.discard(discarding(fixture), never)).toBe(rescueRef)
  expect(await refs(fixture)).toBe(`refs/heads/main\n${rescueRef}`)
})

test('keeps work on another branch, and on none', async () => {
  await using fixture = await withWork({ 'work.txt': 'w\n' })
  const { repository, path } = fixture
  const tip = await repository.git(['rev-parse', branch])
  await repository.git(['switch', '-q', '--detach', 'main'], { cwd: path })
  const loose = await repository.commit('On no branch', { 'loose.txt': 'l\n' }, path)
  await fixture.workspaces.discard(discarding(fixture), never)
  const kept = await repository.git(['for-each-ref', '--format=%(objectname)', `refs/svc/rescue/${taskId}/`])
  expect(kept.split('\n').toSorted()).toEqual([loose, tip].toSorted())
})

test('starts the next claim from the current base branch', async () => {
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

test('keeps a repository inside the worktree before it is removed', async () => {
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

test('refuses the repository itself, and a folder around it', async () => {
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

test('keeps a branch that is checked out elsewhere, and says so', async () => {
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
