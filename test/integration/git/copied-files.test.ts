import { existsSync } from 'node:fs'
import { chmod, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createWorkspaces } from '../../helpers/whole-git.ts'
import { createFixture, never, taskId, type WorkspaceFixture } from './workspace-fixture.ts'

const secret = 'TOKEN=hunter2\n'
const asked = { copy_files: ['.env', 'conf', 'ü *.txt', 'here'] }

/** A worktree with copies of untracked files that git does not ignore. */
async function withCopies(): Promise<WorkspaceFixture> {
  const fixture = await createFixture({ files: { 'README.md': '# Example\n' } })
  await fixture.repository.write({ '.env': secret, 'conf/local.json': '{}\n', 'ü ["x"].txt': 'odd\n' })
  await fixture.repository.git(['config', 'core.excludesFile', '/dev/null'])
  await fixture.workspaces.ensure(fixture.request(asked), never)
  return fixture
}

async function shown({ workspaces, ...fixture }: WorkspaceFixture): Promise<readonly string[]> {
  const { files, tree } = await workspaces.diff(fixture.ref(), 'branch', null, never)
  expect((await workspaces.work(fixture.ref(), never))?.tree).toBe(tree)
  const uncommitted = await workspaces.diff(fixture.ref(), 'uncommitted', null, never)
  expect((await workspaces.status(fixture.ref(), never)).dirty).toBe(uncommitted.files.length > 0)
  return files.map(({ path }) => path)
}

const filesOf = async ({ repository }: WorkspaceFixture, commit: string): Promise<string> =>
  await repository.git(['ls-tree', '-r', '--name-only', commit])

test('leaves copied files that no one changed out of diff, tree and commits', async () => {
  await using fixture = await withCopies()
  const { workspaces, repository, path } = fixture
  expect(await readFile(join(path, '.env'), 'utf8')).toBe(secret)
  expect(await shown(fixture)).toEqual([])
  expect(await workspaces.commitAll(path, 'Nothing\n', never)).toBeNull()
  await repository.write({ 'work.txt': 'done\n' }, path)
  await repository.git(['add', '--all'], { cwd: path })
  expect(await shown(fixture)).toEqual(['work.txt'])
  const work = await workspaces.work(fixture.ref(), never)
  if (work === null) throw new Error('There is no work.')
  const judged = await workspaces.commitWork(fixture.ref(), work, 'Judged\n', never)
  expect(await filesOf(fixture, judged)).toBe('README.md\nwork.txt')
  await repository.write({ 'more.txt': 'more\n' }, path)
  await repository.git(['add', '--all'], { cwd: path })
  const all = await workspaces.commitAll(path, 'All\n', never)
  expect(await filesOf(fixture, all ?? '')).toBe('README.md\nmore.txt\nwork.txt')
  expect((await workspaces.merge(fixture.mergeRequest(), never)).kind).toBe('merged')
  expect(await filesOf(fixture, 'main')).toBe('README.md\nmore.txt\nwork.txt')
  expect(await readFile(join(repository.path, '.env'), 'utf8')).toBe(secret)
  expect(await workspaces.rescue(path, taskId, never)).toBeNull()
  expect(existsSync(join(path, '.env'))).toBe(true)
  await workspaces.remove({ repo_path: repository.path, path, task_id: taskId }, never)
  expect(existsSync(path)).toBe(false)
})

test.each<[string, (fixture: WorkspaceFixture) => Promise<unknown>, string[]]>([
  ['was changed', ({ path }) => writeFile(join(path, '.env'), 'TOKEN=other\n'), ['.env']],
  ['was made executable', ({ path }) => chmod(join(path, 'conf/local.json'), 0o755), ['conf/local.json']],
  [
    'was committed',
    ({ repository, path }) => repository.commit('Mine', {}, path),
    ['.env', 'conf/local.json', 'ü ["x"].txt'],
  ],
  [
    'was committed and is as before again',
    async ({ repository, path }) => {
      await repository.commit('Mine', { '.env': 'TOKEN=other\n' }, path)
      await writeFile(join(path, '.env'), secret)
    },
    ['.env', 'conf/local.json', 'ü ["x"].txt'],
  ],
])('takes a copied file that %s for work', async (_name, change, files) => {
  await using fixture = await withCopies()
  expect(await shown(fixture)).toEqual([])
  await change(fixture)
  expect(await shown(fixture)).toEqual(files)
  const kept = await fixture.workspaces.commitAll(fixture.path, 'Work\n', never)
  expect((await filesOf(fixture, kept ?? 'HEAD')).length).toBeGreaterThan(0)
  expect(await shown(fixture)).toEqual(files)
})

test('knows a changed file that is as before again', async () => {
  await using fixture = await withCopies()
  await writeFile(join(fixture.path, '.env'), 'TOKEN=other\n')
  expect(await shown(fixture)).toEqual(['.env'])
  await writeFile(join(fixture.path, '.env'), secret)
  expect(await shown(fixture)).toEqual([])
  await rm(join(fixture.path, '.env'))
  expect(await shown(fixture)).toEqual([])
})

test('resets a worktree around its copied files, and makes it anew with them', async () => {
  await using fixture = await withCopies()
  const { workspaces, repository, path } = fixture
  await repository.write({ 'work.txt': 'done\n', '.env': 'TOKEN=other\n' }, path)
  expect(await workspaces.resetWorktree(path, taskId, never)).not.toBeNull()
  expect(existsSync(join(path, '.env'))).toBe(false)
  expect(await readFile(join(path, 'conf/local.json'), 'utf8')).toBe('{}\n')
  expect(await shown(fixture)).toEqual([])
  await workspaces.remove({ repo_path: repository.path, path, task_id: taskId }, never)
  await workspaces.ensure(fixture.request({ ...asked, expect: 'existing' }), never)
  expect(await readFile(join(path, '.env'), 'utf8')).toBe(secret)
  expect(await shown(fixture)).toEqual([])
})

test('leaves them out of a repository that is absorbed, and of what is compared with other tasks', async () => {
  await using fixture = await createFixture()
  const { workspaces, repository, path } = fixture
  await repository.write({ 'sub/.env': secret })
  await workspaces.ensure(fixture.request({ copy_files: ['sub/.env'] }), never)
  await repository.git(['init', '--quiet', join(path, 'sub')])
  await repository.commit('Inner', { 'code.txt': 'x\n' }, join(path, 'sub'))
  await writeFile(join(path, 'sub/new.txt'), 'y\n')
  expect((await shown(fixture)).toSorted()).toEqual(['sub/code.txt', 'sub/new.txt'])
  await workspaces.absorbNested(fixture.ref(), taskId, ['sub'], never)
  expect((await shown(fixture)).toSorted()).toEqual(['sub/code.txt', 'sub/new.txt'])
  const commit = await workspaces.commitAll(path, 'Work\n', never)
  expect(await filesOf(fixture, commit ?? '')).toBe('README.md\nsub/code.txt\nsub/new.txt')
})

test('refuses more of them than it can tell apart from work', async () => {
  await using fixture = await createFixture()
  const many = Object.fromEntries(Array.from({ length: 2_001 }, (_, number) => [`many/${number}.txt`, 'x\n']))
  await fixture.repository.write(many)
  const request = fixture.request({ copy_files: ['many'] })
  await expect(createWorkspaces().ensure(request, never)).rejects.toMatchObject({ code: 'setup_failed' })
  await fixture.repository.write({ '.git/info/exclude': '/many\n/.svc.lock\n' })
  expect(await fixture.workspaces.ensure(request, never)).toMatchObject({ kind: 'ready' })
})
