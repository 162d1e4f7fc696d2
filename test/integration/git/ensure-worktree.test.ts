import { existsSync } from 'node:fs'
import { mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { createWorkspaces } from '../../helpers/whole-git.ts'
import { branch, createFixture, never, taskId } from './workspace-fixture.ts'

test('creates a worktree on a new branch from the tip of the base', async () => {
  await using fixture = await createFixture()
  const tip = await fixture.repository.git(['rev-parse', 'main'])
  expect(await fixture.workspaces.ensure(fixture.request(), never)).toEqual({
    kind: 'ready',
    how: 'created',
    base_commit: tip,
  })
  expect(await fixture.repository.git(['symbolic-ref', 'HEAD'], { cwd: fixture.path })).toBe(`refs/heads/${branch}`)
  expect(await readdir(fixture.path)).toEqual(['.git', 'README.md'])
  expect(await fixture.repository.git(['status', '--porcelain'])).toBe('')
})

test('tracks no remote with a new branch, whatever the configuration says', async () => {
  await using fixture = await createFixture()
  await fixture.repository.git(['config', 'branch.autoSetupMerge', 'always'])
  await fixture.workspaces.ensure(fixture.request(), never)
  expect(await fixture.repository.git(['for-each-ref', '--format=%(upstream)', `refs/heads/${branch}`])).toBe('')
})

test('works with spaces and emoji in paths', async () => {
  await using fixture = await createFixture({ name: 'my repo 🌳', folder: 'work spaces 🍃' })
  await fixture.workspaces.ensure(fixture.request(), never)
  await fixture.repository.write({ 'a b/ü 🌱.txt': 'x\n' }, fixture.path)
  const diff = await fixture.workspaces.diff(fixture.ref(), 'uncommitted', null, never)
  expect(diff.files.map(({ path }) => path)).toEqual(['a b/ü 🌱.txt'])
  expect(await fixture.workspaces.ensure(fixture.request(), never)).toMatchObject({ how: 'reused' })
  await fixture.workspaces.commitAll(fixture.path, 'Grow\n', never)
  expect(await fixture.workspaces.merge(fixture.mergeRequest(), never)).toMatchObject({ kind: 'merged' })
  await fixture.workspaces.remove({ ...fixture.request(), task_id: taskId }, never)
  expect(existsSync(fixture.path)).toBe(false)
})

test('finds the same worktree with its uncommitted files later', async () => {
  await using fixture = await createFixture()
  const first = await fixture.workspaces.ensure(fixture.request(), never)
  await fixture.repository.write({ 'new.txt': 'not committed\n' }, fixture.path)
  const second = await fixture.workspaces.ensure(fixture.request({ expect: 'existing' }), never)
  expect(second).toEqual({ ...first, how: 'reused' })
  expect(await readFile(join(fixture.path, 'new.txt'), 'utf8')).toBe('not committed\n')
})

test('creates a deleted folder again from the branch, and leaves other records alone', async () => {
  await using fixture = await createFixture()
  await fixture.workspaces.ensure(fixture.request(), never)
  const work = await fixture.repository.commit('Work', { 'done.txt': 'done\n' }, fixture.path)
  const other = join(fixture.repository.beside, 'other')
  await fixture.repository.git(['worktree', 'add', '--quiet', '-b', 'other', other])
  await rm(other, { recursive: true })
  await rm(fixture.path, { recursive: true })
  expect(await fixture.workspaces.ensure(fixture.request({ expect: 'existing' }), never)).toMatchObject({
    kind: 'ready',
    how: 'recovered',
  })
  expect(await fixture.repository.git(['rev-parse', 'HEAD'], { cwd: fixture.path })).toBe(work)
  expect(await fixture.repository.git(['worktree', 'list'])).toContain('[other]')
})

test('creates nothing when folder and branch are gone, and says so', async () => {
  await using fixture = await createFixture()
  await fixture.workspaces.ensure(fixture.request(), never)
  await rm(fixture.path, { recursive: true })
  await fixture.repository.git(['worktree', 'prune'])
  await fixture.repository.git(['branch', '-D', branch])
  expect(await fixture.workspaces.ensure(fixture.request({ expect: 'existing' }), never)).toEqual({
    kind: 'branch_gone',
  })
  expect(existsSync(fixture.path)).toBe(false)
})

test('renames a worktree that a crash left incomplete, and creates it again', async () => {
  await using fixture = await createFixture()
  await fixture.workspaces.ensure(fixture.request(), never)
  const record = (await readFile(join(fixture.path, '.git'), 'utf8')).slice('gitdir: '.length).trim()
  await writeFile(join(record, 'locked'), 'initializing')
  await fixture.repository.write({ 'precious.txt': 'keep me\n' }, fixture.path)
  expect(await fixture.workspaces.ensure(fixture.request(), never)).toMatchObject({ how: 'recovered' })
  expect(await readFile(join(`${fixture.path}.broken-1`, 'precious.txt'), 'utf8')).toBe('keep me\n')
  expect(await readdir(fixture.path)).toEqual(['.git', 'README.md'])
})

test('renames a folder that is no worktree, with all its files', async () => {
  await using fixture = await createFixture()
  await fixture.repository.write({ 'notes/mine.txt': 'mine\n' }, fixture.path)
  await fixture.repository.write({ 'earlier.txt': 'earlier\n' }, `${fixture.path}.broken-1`)
  expect(await fixture.workspaces.ensure(fixture.request(), never)).toMatchObject({ how: 'created' })
  expect(await readFile(join(`${fixture.path}.broken-2`, 'notes/mine.txt'), 'utf8')).toBe('mine\n')
  expect(await readFile(join(`${fixture.path}.broken-1`, 'earlier.txt'), 'utf8')).toBe('earlier\n')
})

test('uses an empty folder at its place', async () => {
  await using fixture = await createFixture()
  await mkdir(fixture.path, { recursive: true })
  await fixture.workspaces.ensure(fixture.request(), never)
  expect(await readdir(dirname(fixture.path))).toHaveLength(1)
})

test('continues when the repository was moved', async () => {
  await using fixture = await createFixture()
  await fixture.workspaces.ensure(fixture.request(), never)
  await fixture.repository.write({ 'new.txt': 'not committed\n' }, fixture.path)
  const moved = join(fixture.repository.beside, 'moved')
  await rename(fixture.repository.path, moved)
  expect(
    await fixture.workspaces.ensure(fixture.request({ repo_path: moved, expect: 'existing' }), never),
  ).toMatchObject({ how: 'reused' })
  expect(await fixture.repository.git(['status', '--porcelain'], { cwd: fixture.path })).toBe('?? new.txt')
})

test('returns a clean worktree on another branch to the task’s branch', async () => {
  await using fixture = await createFixture()
  await fixture.workspaces.ensure(fixture.request(), never)
  await fixture.repository.git(['switch', '--quiet', '-c', 'elsewhere'], { cwd: fixture.path })
  await fixture.repository.commit('Elsewhere', { 'e.txt': 'e\n' }, fixture.path)
  await fixture.workspaces.ensure(fixture.request(), never)
  expect(await fixture.repository.git(['branch', '--show-current'], { cwd: fixture.path })).toBe(branch)
  expect(await fixture.repository.git(['show', 'elsewhere:e.txt'])).toBe('e')
})

test('keeps commits on no branch when it returns', async () => {
  await using fixture = await createFixture()
  await fixture.workspaces.ensure(fixture.request(), never)
  await fixture.repository.git(['switch', '--quiet', '--detach'], { cwd: fixture.path })
  const lost = await fixture.repository.commit('On no branch', { 'l.txt': 'l\n' }, fixture.path)
  await fixture.workspaces.ensure(fixture.request(), never)
  expect(await fixture.repository.git(['for-each-ref', '--format=%(objectname)', 'refs/svc/rescue'])).toBe(lost)
})

test('leaves a dirty worktree on another branch alone, and says what to do', async () => {
  await using fixture = await createFixture()
  await fixture.workspaces.ensure(fixture.request(), never)
  await fixture.repository.git(['switch', '--quiet', '-c', 'elsewhere'], { cwd: fixture.path })
  await fixture.repository.write({ 'README.md': 'changed\n' }, fixture.path)
  await expect(fixture.workspaces.ensure(fixture.request(), never)).rejects.toMatchObject({
    code: 'git_failed',
    message: expect.stringContaining(`git switch ${branch}`),
  })
  expect(await readFile(join(fixture.path, 'README.md'), 'utf8')).toBe('changed\n')
  expect(await fixture.repository.git(['branch', '--show-current'], { cwd: fixture.path })).toBe('elsewhere')
})

test('renames a branch back that the agent renamed, with dirty files', async () => {
  await using fixture = await createFixture()
  await fixture.workspaces.ensure(fixture.request(), never)
  const work = await fixture.repository.commit('Work', { 'w.txt': 'w\n' }, fixture.path)
  await fixture.repository.git(['branch', '-m', 'feature'], { cwd: fixture.path })
  await fixture.repository.write({ 'w.txt': 'more\n' }, fixture.path)
  await fixture.workspaces.ensure(fixture.request({ expect: 'existing' }), never)
  expect(await fixture.repository.git(['rev-parse', branch])).toBe(work)
  expect(await fixture.repository.git(['branch', '--show-current'], { cwd: fixture.path })).toBe(branch)
  expect(await readFile(join(fixture.path, 'w.txt'), 'utf8')).toBe('more\n')
})

test('reports a branch that is checked out elsewhere', async () => {
  await using fixture = await createFixture()
  await fixture.repository.git(['switch', '--quiet', '-c', branch])
  await expect(fixture.workspaces.ensure(fixture.request({ expect: 'existing' }), never)).rejects.toMatchObject({
    name: 'WorkspaceError',
    code: 'git_failed',
  })
})

test('reports a missing base branch', async () => {
  await using fixture = await createFixture()
  await expect(fixture.workspaces.ensure(fixture.request({ base_branch: 'nope' }), never)).rejects.toMatchObject({
    code: 'git_failed',
    message: expect.stringContaining('“nope”'),
  })
})

test('creates worktrees of a bare repository', async () => {
  await using fixture = await createFixture()
  const bare = join(fixture.repository.beside, 'bare.git')
  await fixture.repository.git(['clone', '--quiet', '--bare', fixture.repository.path, bare])
  expect(await fixture.workspaces.inspect(bare, never)).toEqual({
    root: bare,
    name: 'bare',
    default_branch: 'main',
    branches: ['main'],
  })
  expect(await fixture.workspaces.ensure(fixture.request({ repo_path: bare }), never)).toMatchObject({ how: 'created' })
})

test('excludes the lock file once, whatever the exclude file ends with', async () => {
  await using fixture = await createFixture()
  const exclude = join(fixture.repository.path, '.git/info/exclude')
  await writeFile(exclude, '*.swp')
  await fixture.workspaces.ensure(fixture.request(), never)
  await fixture.workspaces.ensure(fixture.request(), never)
  expect(await readFile(exclude, 'utf8')).toBe('*.swp\n/.svc.lock\n')
})

test('creates many worktrees of one repository at once', async () => {
  await using fixture = await createFixture()
  const names = Array.from({ length: 6 }, (_, number) => `task-${number}`)
  const made = await Promise.all(
    names.map((name) =>
      fixture.workspaces.ensure(fixture.request({ path: join(fixture.root, name), branch: name }), never),
    ),
  )
  expect(made.map((result) => result.kind === 'ready' && result.how)).toEqual(names.map(() => 'created'))
})

test('creates a worktree once when asked twice at once', async () => {
  await using fixture = await createFixture()
  const made = await Promise.all([
    fixture.workspaces.ensure(fixture.request(), never),
    fixture.workspaces.ensure(fixture.request(), never),
  ])
  expect(made.map((result) => result.kind === 'ready' && result.how)).toEqual(['created', 'reused'])
})

test('does not hang in a repository’s hook that reads its input', async () => {
  await using fixture = await createFixture()
  await writeFile(join(fixture.repository.path, '.git/hooks/post-checkout'), '#!/bin/sh\ncat > /dev/null\n', {
    mode: 0o755,
  })
  expect(await fixture.workspaces.ensure(fixture.request(), never)).toMatchObject({ how: 'created' })
})

test('says what to install without git', async () => {
  await using fixture = await createFixture()
  const path = process.env['PATH']
  process.env['PATH'] = '/nowhere'
  try {
    await expect(createWorkspaces().ensure(fixture.request(), never)).rejects.toMatchObject({
      code: 'git_failed',
      message: expect.stringContaining('Install git'),
    })
  } finally {
    process.env['PATH'] = path
  }
})
