import { existsSync } from 'node:fs'
import { readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { ExecutionId } from '../../../src-shared/contract/ids.ts'
import { branch, createFixture, never, taskId } from './workspace-fixture.ts'
import type { WorkspaceFixture } from './workspace-fixture.ts'

const execution = ExecutionId.parse('01912d68-783e-7a03-8467-5661c1243ad5')
const rescueRef = `refs/svc/rescue/${taskId}/20261121T093000000Z`

async function withWorktree(files: Record<string, string> = {}): Promise<WorkspaceFixture> {
  const fixture = await createFixture({ files: { 'README.md': '# Example\n', ...files } })
  await fixture.workspaces.ensure(fixture.request(), never)
  return fixture
}

const removal = (fixture: WorkspaceFixture) => ({
  repo_path: fixture.repository.path,
  path: fixture.path,
  task_id: taskId,
  branch,
})

test('commits everything uncommitted with the message, without ignored files and the lock', async () => {
  await using fixture = await withWorktree({ '.gitignore': '*.log\n', 'gone.txt': 'x\n' })
  const { repository, path } = fixture
  await repository.write({ 'README.md': 'changed\n', 'new.txt': 'n\n', 'x.log': 'l\n' }, path)
  await rm(join(path, 'gone.txt'))
  await fixture.workspaces.lock(path, { execution_id: execution, pid: null })
  const commit = await fixture.workspaces.commitAll(path, '# Not a comment\n\nCopse-Task: 1\n', never)
  expect(commit).toBe(await repository.git(['rev-parse', branch]))
  expect(await repository.git(['show', '--name-status', '--format=%B', branch])).toBe(
    '# Not a comment\n\nCopse-Task: 1\n\n\nM\tREADME.md\nD\tgone.txt\nA\tnew.txt',
  )
  expect(await fixture.workspaces.commitAll(path, 'Again\n', never)).toBeNull()
})

test("skips the repository's hooks, and never signs", async () => {
  await using fixture = await withWorktree()
  await fixture.repository.git(['config', 'commit.gpgSign', 'true'])
  await fixture.repository.git(['config', 'gpg.program', 'false'])
  for (const hook of ['pre-commit', 'commit-msg']) {
    await writeFile(join(fixture.repository.path, '.git/hooks', hook), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  }
  await fixture.repository.write({ 'new.txt': 'n\n' }, fixture.path)
  expect(await fixture.workspaces.commitAll(fixture.path, 'Work\n', never)).toMatch(/^[0-9a-f]{40}$/)
})

test('commits as Copse without a configured identity', async () => {
  await using fixture = await withWorktree()
  const { repository } = fixture
  await repository.git(['config', '--unset', 'user.name'])
  await repository.git(['config', '--unset', 'user.email'])
  vi.stubEnv('GIT_CONFIG_GLOBAL', '/dev/null')
  vi.stubEnv('GIT_CONFIG_SYSTEM', '/dev/null')
  try {
    await repository.write({ 'new.txt': 'n\n' }, fixture.path)
    await fixture.workspaces.commitAll(fixture.path, 'Work\n', never)
    await fixture.workspaces.merge(fixture.mergeRequest(), never)
  } finally {
    vi.unstubAllEnvs()
  }
  expect(await repository.git(['log', '--format=%an <%ae> %cn <%ce>', 'main~1..main'])).toBe(
    'Copse <copse@localhost> Copse <copse@localhost>\nCopse <copse@localhost> Copse <copse@localhost>',
  )
})

test('leaves files with conflict markers uncommitted, and commits resolved ones', async () => {
  await using fixture = await withWorktree({ 'a.txt': 'a\n' })
  const { repository, path } = fixture
  await repository.commit('Mine', { 'a.txt': 'mine\n' }, path)
  await repository.commit('Theirs', { 'a.txt': 'theirs\n' })
  await repository.git(['merge', 'main'], { cwd: path }).catch(() => undefined)
  await expect(fixture.workspaces.commitAll(path, 'Work\n', never)).rejects.toMatchObject({
    code: 'unfinished_merge',
    message: expect.stringContaining('a.txt'),
  })
  await repository.write({ 'a.txt': 'both\n' }, path)
  await fixture.workspaces.commitAll(path, 'Resolve\n', never)
  expect(await repository.git(['show', `${branch}:a.txt`])).toBe('both')
})

test('keeps uncommitted files in a rescue, and leaves worktree and index alone', async () => {
  await using fixture = await withWorktree({ '.gitignore': '*.log\n' })
  const { repository, path } = fixture
  await repository.write({ 'README.md': 'staged\n' }, path)
  await repository.git(['add', '.'], { cwd: path })
  await repository.write({ 'README.md': 'changed\n', 'new.txt': 'n\n', 'x.log': 'l\n' }, path)
  const before = await repository.git(['status', '--porcelain'], { cwd: path })
  expect(await fixture.workspaces.rescue(path, taskId, never)).toBe(rescueRef)
  expect(await repository.git(['rev-parse', `${rescueRef}^`])).toBe(await repository.git(['rev-parse', branch]))
  expect(await repository.git(['show', `${rescueRef}:README.md`])).toBe('changed')
  expect(await repository.git(['ls-tree', '--name-only', rescueRef])).toBe('.gitignore\nREADME.md\nnew.txt')
  expect(await repository.git(['status', '--porcelain'], { cwd: path })).toBe(before)
})

test('keeps two rescues of the same moment, and makes none of a clean worktree', async () => {
  await using fixture = await withWorktree()
  expect(await fixture.workspaces.rescue(fixture.path, taskId, never)).toBeNull()
  await fixture.repository.write({ 'new.txt': '1\n' }, fixture.path)
  await fixture.workspaces.rescue(fixture.path, taskId, never)
  await fixture.repository.write({ 'new.txt': '2\n' }, fixture.path)
  const second = await fixture.workspaces.rescue(fixture.path, taskId, never)
  expect(await fixture.repository.git(['show', `${rescueRef}:new.txt`])).toBe('1')
  expect(await fixture.repository.git(['show', `${second ?? ''}:new.txt`])).toBe('2')
})

test('keeps a dirty worktree’s files in a rescue, and its branch, when it is removed', async () => {
  await using fixture = await withWorktree()
  await fixture.repository.write({ 'new.txt': 'n\n' }, fixture.path)
  await fixture.workspaces.remove(removal(fixture), never)
  expect(existsSync(fixture.path)).toBe(false)
  expect(await fixture.repository.git(['show', `${rescueRef}:new.txt`])).toBe('n')
  expect(await fixture.repository.git(['branch', '--list', branch])).toContain(branch)
  expect(await fixture.repository.git(['worktree', 'list', '--porcelain'])).not.toContain(fixture.path)
})

test('removes a locked worktree whole, and quarantines nothing', async () => {
  await using fixture = await withWorktree()
  await fixture.repository.write({ 'new.txt': 'n\n' }, fixture.path)
  await fixture.workspaces.lock(fixture.path, { execution_id: execution, pid: null })
  await fixture.workspaces.remove(removal(fixture), never)
  expect(await readdir(dirname(fixture.path))).toEqual([])
  expect(await fixture.repository.git(['ls-tree', '--name-only', rescueRef])).toBe('README.md\nnew.txt')
})

test('may remove what is already gone', async () => {
  await using fixture = await withWorktree()
  const request = { ...removal(fixture), delete_branch: true }
  await fixture.workspaces.remove(request, never)
  await fixture.workspaces.remove(request, never)
  expect(await fixture.repository.git(['for-each-ref', '--format=%(refname)'])).toBe('refs/heads/main')
})

test('removes only the record of a deleted folder', async () => {
  await using fixture = await withWorktree()
  const other = join(fixture.repository.beside, 'other')
  await fixture.repository.git(['worktree', 'add', '-q', '-b', 'other', other])
  await rm(other, { recursive: true })
  await rm(fixture.path, { recursive: true })
  await fixture.workspaces.remove(removal(fixture), never)
  const listed = await fixture.repository.git(['worktree', 'list', '--porcelain'])
  expect([listed.includes(fixture.path), listed.includes(other)]).toEqual([false, true])
})

test('keeps an unmerged branch as a rescue when it is deleted, but no merged one', async () => {
  await using fixture = await withWorktree()
  const work = await fixture.repository.commit('Work', { 'w.txt': 'w\n' }, fixture.path)
  await fixture.workspaces.remove({ ...removal(fixture), delete_branch: true }, never)
  expect(await fixture.repository.git(['for-each-ref', '--format=%(refname) %(objectname)', 'refs/svc'])).toBe(
    `${rescueRef} ${work}`,
  )
  await using merged = await withWorktree()
  await merged.repository.commit('Work', { 'w.txt': 'w\n' }, merged.path)
  await merged.workspaces.merge(merged.mergeRequest(), never)
  await merged.workspaces.remove({ ...removal(merged), delete_branch: true }, never)
  expect(await merged.repository.git(['for-each-ref', '--format=%(refname)'])).toBe('refs/heads/main')
})

test('keeps commits on a detached HEAD', async () => {
  await using fixture = await withWorktree()
  await fixture.repository.git(['switch', '-q', '--detach'], { cwd: fixture.path })
  const lost = await fixture.repository.commit('On no branch', { 'l.txt': 'l\n' }, fixture.path)
  await fixture.workspaces.remove(removal(fixture), never)
  expect(await fixture.repository.git(['rev-parse', rescueRef])).toBe(lost)
})

test('renames a folder that is no longer a worktree, and does not delete it', async () => {
  await using fixture = await withWorktree()
  await fixture.repository.write({ 'new.txt': 'n\n' }, fixture.path)
  await rm(join(fixture.path, '.git'))
  await fixture.workspaces.remove(removal(fixture), never)
  expect(existsSync(fixture.path)).toBe(false)
  expect(await readFile(join(`${fixture.path}.broken-1`, 'new.txt'), 'utf8')).toBe('n\n')
  expect(await fixture.repository.git(['worktree', 'list', '--porcelain'])).not.toContain(fixture.path)
})

test.each([true, false])(
  'keeps a repository inside the worktree (with commits: %s) before it is removed',
  async (commits) => {
    await using fixture = await withWorktree()
    const nested = join(fixture.path, 'nested')
    await fixture.repository.git(['init', '-q', nested])
    await fixture.repository.write({ 'inner.txt': 'i\n' }, nested)
    if (commits) await fixture.repository.commit('Inner', {}, nested)
    await fixture.workspaces.remove(removal(fixture), never)
    expect(existsSync(fixture.path)).toBe(false)
    const refs = await fixture.repository.git(['for-each-ref', '--format=%(refname)', 'refs/svc/rescue'])
    const shown = refs.split('\n').map((ref) => fixture.repository.git(['ls-tree', '-r', '--name-only', ref]))
    expect((await Promise.all(shown)).join('\n')).toContain('nested/inner.txt')
  },
)

test('removes a worktree that a person locked', async () => {
  await using fixture = await withWorktree()
  await fixture.repository.git(['worktree', 'lock', fixture.path])
  await fixture.workspaces.remove(removal(fixture), never)
  expect(await readdir(dirname(fixture.path))).toEqual([])
})

test('starts the next claim from the base after a removal with the branch', async () => {
  await using fixture = await withWorktree()
  await fixture.repository.commit('Work', { 'w.txt': 'w\n' }, fixture.path)
  await fixture.workspaces.remove({ ...removal(fixture), delete_branch: true }, never)
  expect(await fixture.workspaces.ensure(fixture.request(), never)).toMatchObject({ how: 'created' })
  expect(await readdir(fixture.path)).toEqual(['.git', 'README.md'])
})
