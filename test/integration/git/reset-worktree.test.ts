import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ExecutionId } from '../../../src-shared/contract/ids.ts'
import { branch, createFixture, everything, never, taskId, withWork } from './workspace-fixture.ts'

const execution = ExecutionId.parse('01912d68-783e-7a03-8467-5661c1243ad5')
const rescueRef = `refs/svc/rescue/${taskId}/20261121T093000000Z`

test('removes and keeps what is uncommitted, and nothing else', async () => {
  await using fixture = await withWork({ 'work.txt': 'committed\n' }, { '.gitignore': '*.log\n' })
  const { repository, path, workspaces } = fixture
  const head = await repository.git(['rev-parse', branch])
  await workspaces.lock(path, { execution_id: execution, pid: null })
  await repository.write({ 'work.txt': 'staged\n' }, path)
  await repository.git(['add', '.'], { cwd: path })
  await repository.write({ 'work.txt': 'changed\n', 'new/file.txt': 'n\n', 'x.log': 'l\n' }, path)

  expect(await workspaces.resetWorktree(path, taskId, never)).toBe(rescueRef)

  expect(await repository.git(['show', `${rescueRef}:work.txt`])).toBe('changed')
  expect(await repository.git(['show', `${rescueRef}:new/file.txt`])).toBe('n')
  expect(await repository.git(['rev-parse', branch, `${rescueRef}^`])).toBe(`${head}\n${head}`)
  expect(await repository.git(['status', '--porcelain'], { cwd: path })).toBe('')
  expect((await readdir(path)).toSorted()).toEqual([
    '.git',
    '.gitignore',
    '.svc.lock',
    'README.md',
    'a.txt',
    'work.txt',
    'x.log',
  ])
  expect(await workspaces.readLock(path)).toEqual({ execution_id: execution, pid: null })
})

test('keeps nothing and changes nothing for a clean, repeated or missing worktree', async () => {
  await using fixture = await withWork({ 'work.txt': 'w\n' })
  const { repository, path, workspaces } = fixture
  expect(await workspaces.resetWorktree(path, taskId, never)).toBeNull()
  await repository.write({ 'new.txt': 'n\n' }, path)
  await workspaces.resetWorktree(path, taskId, never)
  expect(await workspaces.resetWorktree(path, taskId, never)).toBeNull()
  expect(await repository.git(['for-each-ref', '--format=%(refname)', 'refs/svc'])).toBe(rescueRef)
  await workspaces.remove({ repo_path: repository.path, path, task_id: taskId }, never)
  expect(await workspaces.resetWorktree(path, taskId, never)).toBeNull()
})

test('ends a merge in progress', async () => {
  await using fixture = await withWork({ 'a.txt': 'mine\n' })
  const { repository, path, workspaces } = fixture
  await repository.commit('Theirs', { 'a.txt': 'theirs\n' })
  await repository.git(['merge', 'main'], { cwd: path }).catch(() => undefined)
  await workspaces.resetWorktree(path, taskId, never)
  expect(await readFile(join(path, 'a.txt'), 'utf8')).toBe('mine\n')
  await expect(repository.git(['rev-parse', '--verify', '-q', 'MERGE_HEAD'], { cwd: path })).rejects.toThrow()
})

test('leaves a repository inside the worktree in place', async () => {
  await using fixture = await withWork({})
  const nested = join(fixture.path, 'nested')
  await fixture.repository.git(['init', '-q', nested])
  await fixture.repository.commit('Inner', { 'inner.txt': 'i\n' }, nested)
  await fixture.workspaces.resetWorktree(fixture.path, taskId, never)
  expect(await readFile(join(nested, 'inner.txt'), 'utf8')).toBe('i\n')
})

// Nothing is unreadable for root.
test.skipIf(process.getuid?.() === 0)('does not remove files that no commit can keep', async () => {
  await using fixture = await withWork({})
  const secret = join(fixture.path, 'secret.txt')
  await writeFile(secret, 's\n')
  await chmod(secret, 0)
  await expect(fixture.workspaces.resetWorktree(fixture.path, taskId, never)).rejects.toMatchObject({
    code: 'git_failed',
    message: expect.stringContaining("can't be read"),
  })
  expect(existsSync(secret)).toBe(true)
})

test('leaves a repository inside without a commit in place', async () => {
  await using fixture = await withWork({})
  const nested = join(fixture.path, 'nested')
  await fixture.repository.git(['init', '-q', nested])
  await writeFile(join(nested, 'inner.txt'), 'i\n')
  await fixture.workspaces.resetWorktree(fixture.path, taskId, never)
  expect(await readFile(join(nested, 'inner.txt'), 'utf8')).toBe('i\n')
})

test.each(['the checkout', 'a folder in it', 'a folder in the worktree', 'a link to the worktree'])(
  'refuses what is not the root of a worktree: %s',
  async (what) => {
    await using fixture = await withWork({ 'sub/file.txt': 'f\n' })
    const { repository, path, root, workspaces } = fixture
    await repository.write({ 'dirty.txt': 'd\n', 'sub/dirty.txt': 'd\n' })
    await repository.write({ 'sub/dirty.txt': 'd\n' }, path)
    const link = join(root, 'project', 'link')
    await symlink(path, link)
    const paths: Record<string, string> = {
      'the checkout': repository.path,
      'a folder in it': join(repository.path, 'sub'),
      'a folder in the worktree': join(path, 'sub'),
      'a link to the worktree': link,
    }
    const before = await everything(fixture)
    await expect(workspaces.resetWorktree(paths[what] ?? '', taskId, never)).rejects.toMatchObject({
      code: 'outside_worktree',
    })
    expect(await everything(fixture)).toEqual(before)
    expect(existsSync(join(path, 'sub/dirty.txt'))).toBe(true)
  },
)

test('refuses a folder that only claims to be a worktree', async () => {
  await using fixture = await createFixture()
  await fixture.workspaces.ensure(fixture.request(), never)
  const copy = `${fixture.path}-copy`
  await mkdir(copy)
  await writeFile(join(copy, '.git'), await readFile(join(fixture.path, '.git')))
  await writeFile(join(copy, 'mine.txt'), 'm\n')
  await expect(fixture.workspaces.resetWorktree(copy, taskId, never)).rejects.toMatchObject({
    code: 'outside_worktree',
  })
  await rename(join(copy, 'mine.txt'), join(fixture.path, 'mine.txt'))
})
