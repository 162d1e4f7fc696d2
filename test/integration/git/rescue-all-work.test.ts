import { existsSync } from 'node:fs'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { removal, removeAndReturn, rescues, restore } from './rescue-fixture.ts'
import { createFixture, never, taskId, withWork } from './workspace-fixture.ts'

test('keeps edits that git was told to ignore, by whatever flag', async () => {
  await using fixture = await withWork({ 'b.txt': 'b\n', 'c.txt': 'c\n' })
  const { repository, path, workspaces } = fixture
  const flag = (name: string, file: string) => repository.git(['update-index', name, file], { cwd: path })
  await flag('--assume-unchanged', 'a.txt')
  await flag('--skip-worktree', 'b.txt')
  await flag('--skip-worktree', 'c.txt')
  await repository.write({ 'a.txt': 'assumed\n', 'b.txt': 'skipped\n' }, path)
  await rm(join(path, 'c.txt'))
  expect(await repository.git(['status', '--porcelain'], { cwd: path })).toBe('')
  await workspaces.resetWorktree(path, taskId, never)
  expect(await readFile(join(path, 'a.txt'), 'utf8')).toBe('a\n')
  expect(await readFile(join(path, 'b.txt'), 'utf8')).toBe('b\n')
  const [rescue] = await rescues(fixture)
  expect(rescue).toMatchObject({ kind: 'uncommitted', files: 2 })
  expect(await restore(fixture, rescue)).toMatchObject({ to: 'worktree' })
  expect(await readFile(join(path, 'a.txt'), 'utf8')).toBe('assumed\n')
  expect(await readFile(join(path, 'b.txt'), 'utf8')).toBe('skipped\n')
})

test('does not take files outside a sparse checkout for deleted, and keeps one that exists', async () => {
  await using fixture = await withWork({ 'in/a.txt': 'a\n', 'out/b.txt': 'b\n' })
  const { repository, path } = fixture
  await repository.git(['sparse-checkout', 'set', 'in'], { cwd: path })
  await repository.write({ 'out/new.txt': 'new\n' }, path)
  await fixture.workspaces.remove(removal(fixture), never)
  const [rescue] = await rescues(fixture)
  expect(rescue).toMatchObject({ files: 1 })
  expect(await repository.git(['show', `${rescue?.ref ?? ''}:out/new.txt`])).toBe('new')
  expect(await repository.git(['show', `${rescue?.ref ?? ''}:out/b.txt`])).toBe('b')
})

test('keeps a file that is now untracked and ignored, because a reset overwrites it', async () => {
  await using fixture = await withWork({ 'local.env': 'committed\n' }, { '.gitignore': '*.log\n' })
  const { repository, path, workspaces } = fixture
  await repository.git(['rm', '-q', '--cached', 'local.env'], { cwd: path })
  await repository.write({ 'local.env': 'mine\n', '.gitignore': '*.env\n' }, path)
  await workspaces.resetWorktree(path, taskId, never)
  expect(await readFile(join(path, 'local.env'), 'utf8')).toBe('committed\n')
  const [rescue] = await rescues(fixture)
  expect(await repository.git(['show', `${rescue?.ref ?? ''}:local.env`])).toBe('mine')
})

test('restores names that are no UTF-8, or look like patterns or options', async () => {
  await using fixture = await withWork({})
  const { path } = fixture
  const odd = Buffer.concat([Buffer.from(`${path}/latin-`), Buffer.from([0xe9]), Buffer.from('.txt')])
  await writeFile(odd, 'é\n')
  for (const name of ['*', ':(top)x', '-f', 'a"b', 'new\nline']) await writeFile(join(path, name), `${name}\n`)
  const before = (await readdir(path, 'buffer')).map(String).toSorted()
  await removeAndReturn(fixture)
  expect(await readdir(path)).toEqual(['.git', 'README.md', 'a.txt'])
  expect(await restore(fixture, (await rescues(fixture))[0])).toMatchObject({ to: 'worktree' })
  expect((await readdir(path, 'buffer')).map(String).toSorted()).toEqual(before)
  expect(await readFile(odd, 'utf8')).toBe('é\n')
})

test('restores as a branch instead of overwriting an ignored file', async () => {
  await using fixture = await withWork({}, { '.gitignore': '*.log\n' })
  const { repository, path, workspaces } = fixture
  await repository.write({ 'x.log': 'added by force\n', 'deep/y.log/z': 'z\n' }, path)
  await repository.git(['add', '-f', '.'], { cwd: path })
  await workspaces.resetWorktree(path, taskId, never)
  await repository.write({ 'x.log': 'another\n' }, path)
  const [rescue] = await rescues(fixture)
  expect(await restore(fixture, rescue)).toMatchObject({ to: 'branch', why_branch: 'conflicts' })
  expect(await readFile(join(path, 'x.log'), 'utf8')).toBe('another\n')
  expect(existsSync(join(path, 'deep'))).toBe(false)
  await rm(join(path, 'x.log'))
  expect(await restore(fixture, rescue)).toMatchObject({ to: 'worktree' })
  expect(await readFile(join(path, 'x.log'), 'utf8')).toBe('added by force\n')
})

test('keeps what is staged, uncommitted and unpublished in a submodule', async () => {
  await using fixture = await createFixture()
  const { repository, path, workspaces } = fixture
  const library = join(repository.beside, 'library')
  await repository.git(['init', '-q', library])
  await repository.commit('Library', { 'lib.txt': 'l\n' }, library)
  const allow = ['-c', 'protocol.file.allow=always']
  await repository.git([...allow, 'submodule', 'add', '-q', library, 'lib'])
  await repository.commit('Use it', {})
  await workspaces.ensure(fixture.request(), never)
  await repository.git([...allow, 'submodule', 'update', '-q', '--init'], { cwd: path })
  const inner = join(path, 'lib')
  const unpublished = await repository.commit('Only here', { 'own.txt': 'own\n' }, inner)
  await repository.write({ 'lib.txt': 'staged\n' }, inner)
  await repository.git(['add', '.'], { cwd: inner })
  await repository.write({ 'lib.txt': 'changed\n', 'new.txt': 'new\n' }, inner)
  await workspaces.remove(removal(fixture), never)
  const rescue = (await rescues(fixture)).find((one) => one.submodule === 'lib')
  const show = (what: string) => repository.git(['show', `${rescue?.ref ?? ''}${what}`])
  expect(await show(':lib.txt')).toBe('changed')
  expect(await show(':new.txt')).toBe('new')
  expect(await show('^2:lib.txt')).toBe('staged')
  expect(await repository.git(['rev-parse', `${rescue?.ref ?? ''}^`])).toBe(unpublished)
  expect(await restore(fixture, rescue)).toMatchObject({ to: 'branch', branch: 'rescued', why_branch: 'commits' })
  expect(await repository.git(['show', 'rescued:own.txt'])).toBe('own')
})

test('keeps a repository within a submodule', async () => {
  await using fixture = await createFixture()
  const { repository, path, workspaces } = fixture
  const library = join(repository.beside, 'library')
  await repository.git(['init', '-q', library])
  await repository.commit('Library', { 'lib.txt': 'l\n' }, library)
  const allow = ['-c', 'protocol.file.allow=always']
  await repository.git([...allow, 'submodule', 'add', '-q', library, 'lib'])
  await repository.commit('Use it', {})
  await workspaces.ensure(fixture.request(), never)
  await repository.git([...allow, 'submodule', 'update', '-q', '--init'], { cwd: path })
  const nested = join(path, 'lib/nested')
  await repository.git(['init', '-q', nested])
  await repository.commit('Inner', { 'inner.txt': 'i\n' }, nested)
  await workspaces.remove(removal(fixture), never)
  const refs = (await rescues(fixture)).map(({ ref }) => repository.git(['ls-tree', '-r', '--name-only', ref]))
  expect((await Promise.all(refs)).join('\n')).toContain('nested/inner.txt')
})

test('keeps the commit of a merge that a reset abandons, if nothing else leads to it', async () => {
  await using fixture = await withWork({ 'a.txt': 'mine\n' })
  const { repository, path, workspaces } = fixture
  await repository.git(['switch', '-q', '--detach', 'main'])
  const theirs = await repository.commit('On no branch', { 'a.txt': 'theirs\n' })
  await repository.git(['switch', '-q', 'main'])
  await repository.git(['merge', '-q', theirs], { cwd: path }).catch(() => undefined)
  await workspaces.resetWorktree(path, taskId, never)
  const kept = (await rescues(fixture)).find((one) => one.kind === 'commits')
  expect(kept?.commit).toBe(theirs)
})
