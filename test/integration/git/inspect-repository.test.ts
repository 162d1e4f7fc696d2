import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createWorkspaces } from '../../helpers/whole-git.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { never } from './workspace-fixture.ts'

const workspaces = createWorkspaces()

test('finds a repository from its root, a folder inside, its .git, a symlink and a linked worktree', async () => {
  await using repository = await createTestRepository({ name: 'my app' })
  await mkdir(join(repository.path, 'src/deep'), { recursive: true })
  await symlink(repository.path, join(repository.beside, 'link'))
  await repository.git(['worktree', 'add', '-q', '-b', 'side', join(repository.beside, 'side')])
  const places = [
    repository.path,
    join(repository.path, 'src/deep'),
    join(repository.path, '.git'),
    join(repository.beside, 'link'),
    join(repository.beside, 'side'),
  ]
  const found = await Promise.all(places.map((place) => workspaces.inspect(place, never)))
  const expected = { root: repository.path, name: 'my app', default_branch: 'main', branches: ['main', 'side'] }
  expect(found).toEqual(places.map(() => expected))
})

test('takes as default branch the one checked out, else main, else master, else the first', async () => {
  await using repository = await createTestRepository()
  const defaultBranch = async (): Promise<string> => (await workspaces.inspect(repository.path, never)).default_branch
  await repository.git(['switch', '-q', '-c', 'work'])
  expect(await defaultBranch()).toBe('work')
  await repository.git(['switch', '-q', '--detach'])
  expect(await defaultBranch()).toBe('main')
  await repository.git(['branch', '-m', 'main', 'master'])
  expect(await defaultBranch()).toBe('master')
  await repository.git(['branch', '-m', 'master', 'zeta'])
  expect(await defaultBranch()).toBe('work')
  await repository.git(['switch', '-q', '--orphan', 'unborn'])
  expect(await defaultBranch()).toBe('work')
})

test('refuses a folder in no repository, a file and a missing path with a reason', async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'copse-none-')))
  try {
    const refusal = (path: string): Promise<unknown> => workspaces.inspect(path, never).catch((error: unknown) => error)
    expect(await refusal(folder)).toMatchObject({
      code: 'not_a_git_repository',
      message: expect.stringContaining('git init'),
      command: 'git init',
    })
    expect(await refusal(join(folder, 'missing'))).toMatchObject({
      code: 'not_a_git_repository',
      message: expect.stringContaining('No folder'),
      command: undefined,
    })
    await using repository = await createTestRepository()
    expect(await refusal(join(repository.path, 'README.md'))).toMatchObject({
      code: 'not_a_git_repository',
      message: expect.stringContaining('is a file'),
    })
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('expands a tilde to the home folder', async () => {
  await expect(workspaces.inspect('~/surely-not-there', never)).rejects.toMatchObject({
    message: expect.stringContaining(join(homedir(), 'surely-not-there')),
  })
})

test('asks for the first commit in an empty repository', async () => {
  await using repository = await createTestRepository({ files: null })
  await expect(workspaces.inspect(repository.path, never)).rejects.toMatchObject({
    code: 'repository_has_no_commits',
    message: expect.stringContaining('first commit'),
    command: 'git commit --allow-empty -m "Start"',
  })
})
