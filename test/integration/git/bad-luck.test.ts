import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { canMount, smallDisk } from './small-disk.ts'
import {
  branch,
  createFixture,
  everything,
  never,
  taskId,
  withWork,
  type WorkspaceFixture,
} from './workspace-fixture.ts'

const big = randomBytes(900_000)

/** Fills the disk almost completely; returns how to make room again. */
async function fill(disk: { readonly path: string }, leave = 0): Promise<() => Promise<void>> {
  const ballast = join(disk.path, 'ballast')
  const free = Number(execFileSync('df', ['--output=avail', '-B1', disk.path], { encoding: 'utf8' }).split('\n')[1])
  await writeFile(ballast, randomBytes(Math.max(0, free - leave))).catch((error: NodeJS.ErrnoException) => {
    expect(error.code).toBe('ENOSPC')
  })
  return () => rm(ballast)
}

const fsck = ({ repository }: WorkspaceFixture) => repository.git(['fsck', '--full', '--no-dangling', '--no-progress'])

test.runIf(canMount)('refuses a claim without room for the checkout, and continues once there is room', async () => {
  await using disk = await smallDisk()
  await using fixture = await createFixture({ files: { 'big.bin': big, 'a.txt': 'a\n' }, within: disk.path })
  const { workspaces, path } = fixture
  const before = await everything(fixture)
  const makeRoom = await fill(disk, 300_000)
  await expect(workspaces.ensure(fixture.request(), never)).rejects.toMatchObject({
    code: 'git_failed',
    message: expect.stringMatching(/No space left|disk is full|unable to write file/i) as string,
  })
  await makeRoom()
  expect(await fsck(fixture)).toBe('')
  expect(await workspaces.ensure(fixture.request(), never)).toMatchObject({ kind: 'ready' })
  expect((await readFile(join(path, 'big.bin'))).equals(big)).toBe(true)
  expect(await fixture.repository.git(['status', '--porcelain'], { cwd: path })).toBe('')
  expect(await everything(fixture)).toMatchObject({ files: (before as { files: object }).files })
})

test.runIf(canMount)('reports a full disk at a commit, keeps the files, and commits later', async () => {
  await using disk = await smallDisk()
  await using fixture = await withWork({}, {}, disk.path)
  const { workspaces, path, repository } = fixture
  await repository.write({ 'big.bin': big }, path)
  const head = await repository.git(['rev-parse', branch])
  const makeRoom = await fill(disk)
  await expect(workspaces.commitAll(path, 'All of it\n', never)).rejects.toMatchObject({
    code: 'git_failed',
    message: expect.stringMatching(/No space left|disk is full/i) as string,
  })
  expect(await repository.git(['rev-parse', branch])).toBe(head)
  expect((await readFile(join(path, 'big.bin'))).equals(big)).toBe(true)
  await makeRoom()
  const commit = await workspaces.commitAll(path, 'All of it\n', never)
  expect(await repository.git(['rev-parse', branch])).toBe(commit)
  expect(await repository.git(['status', '--porcelain'], { cwd: path })).toBe('')
  expect(await fsck(fixture)).toBe('')
})

test.runIf(canMount).each([
  ['for the files', 200_000],
  ['at all', 0],
])('leaves target and checkout alone without room %s of a merge, and merges later', async (_name, leave) => {
  await using disk = await smallDisk()
  await using fixture = await withWork({ 'big.bin': big.toString('base64'), 'a.txt': 'of the task\n' }, {}, disk.path)
  const { workspaces, repository } = fixture
  const before = await everything(fixture)
  const makeRoom = await fill(disk, leave)
  await expect(workspaces.merge(fixture.mergeRequest(), never)).rejects.toMatchObject({
    code: 'git_failed',
    message: expect.stringMatching(/No space left|disk/i) as string,
  })
  await makeRoom()
  expect(await everything(fixture)).toEqual(before)
  expect(await workspaces.merge(fixture.mergeRequest(), never)).toMatchObject({ kind: 'merged' })
  expect(await readFile(join(repository.path, 'big.bin'), 'utf8')).toBe(big.toString('base64'))
  expect(await repository.git(['status', '--porcelain'])).toBe('')
  expect(await fsck(fixture)).toBe('')
})

test('reports a lock that git left in the worktree where the index is needed, and continues elsewhere', async () => {
  await using fixture = await withWork({ 'b.txt': 'b\n' })
  const { workspaces, repository, path } = fixture
  await repository.write({ 'b.txt': 'more\n', 'c.txt': 'c\n' }, path)
  const record = await repository.git(['rev-parse', '--absolute-git-dir'], { cwd: path })
  const lock = join(record, 'index.lock')
  await writeFile(lock, '')
  const said = { code: 'git_failed', message: expect.stringContaining('index.lock') as string }
  await expect(workspaces.commitAll(path, 'All\n', never)).rejects.toMatchObject(said)
  expect(await workspaces.ensure(fixture.request({ expect: 'existing' }), never)).toMatchObject({ kind: 'ready' })
  const diff = await workspaces.diff(fixture.ref(), 'uncommitted', null, never)
  expect(diff.files.map((file) => file.path)).toEqual(['b.txt', 'c.txt'])
  await workspaces.remove({ repo_path: repository.path, path, task_id: taskId }, never)
  const [rescue] = await workspaces.rescues(repository.path, taskId, never)
  expect(await repository.git(['show', `${rescue?.ref ?? ''}:c.txt`])).toBe('c')
  expect(await fsck(fixture)).toBe('')
})

test('removes git locks of worktrees older than the service at the start, no others', async () => {
  await using fixture = await withWork({ 'b.txt': 'b\n' })
  const { workspaces, repository, path, root } = fixture
  await repository.write({ 'c.txt': 'c\n' }, path)
  const record = await repository.git(['rev-parse', '--absolute-git-dir'], { cwd: path })
  const [left, users] = [join(record, 'index.lock'), join(repository.path, '.git/index.lock')]
  await writeFile(left, '')
  await writeFile(users, '')
  await utimes(users, 1, 1)
  await workspaces.releaseStaleLocks(root)
  await expect(workspaces.commitAll(path, 'All\n', never)).rejects.toMatchObject({ code: 'git_failed' })
  await utimes(left, 1, 1)
  await workspaces.releaseStaleLocks(root)
  expect(await workspaces.commitAll(path, 'All\n', never)).toBe(await repository.git(['rev-parse', branch]))
  expect(await readFile(users, 'utf8')).toBe('')
})

test('removes at the start the locks that a killed git left on refs and worktrees', async () => {
  await using fixture = await withWork({ 'b.txt': 'b\n' })
  const { workspaces, repository, path, root } = fixture
  // A test process that has run for ten minutes would be older than any lock that git may still hold.
  using _ = vi.spyOn(process, 'uptime').mockReturnValue(60)
  const record = await repository.git(['rev-parse', '--absolute-git-dir'], { cwd: path })
  const inCommon = (...names: string[]) => join(repository.path, '.git', ...names)
  const ofTask = [
    inCommon('refs', 'heads', `${branch}.lock`),
    join(record, 'HEAD.lock'),
    join(record, 'ORIG_HEAD.lock'),
  ]
  const ofAll = [inCommon('refs', 'heads', 'main.lock'), inCommon('packed-refs.lock'), inCommon('config.lock')]
  const made = (text: string) =>
    repository.git(['commit', '-q', '--allow-empty', '-m', text], { cwd: path }).then(() => text, String)
  const there = () => [...ofTask, ...ofAll].filter((file) => existsSync(file))
  for (const file of [...ofTask, ...ofAll]) await writeFile(file, '')
  await workspaces.releaseStaleLocks(root)
  expect(there()).toEqual([...ofTask, ...ofAll])
  expect(await made('Refused')).toContain('.lock')

  // Two minutes ago, a minute before the start: a process that rewrites a whole file may still run.
  const minuteAgo = Date.now() / 1_000 - process.uptime() - 60
  for (const file of [...ofTask, ...ofAll]) await utimes(file, minuteAgo, minuteAgo)
  await workspaces.releaseStaleLocks(root)
  expect(there()).toEqual(ofAll.slice(1))
  expect(await made('Taken')).toBe('Taken')
  for (const file of ofAll.slice(1)) await utimes(file, 1, 1)
  await workspaces.releaseStaleLocks(root)
  expect(there()).toEqual([])
})

test('removes a maintenance lock of half a day ago at the start, but none in use', async () => {
  await using fixture = await withWork({ 'b.txt': 'b\n' })
  const { workspaces, repository, root } = fixture
  const lock = join(repository.path, '.git/objects/maintenance.lock')
  await writeFile(lock, '')
  const [eleven, thirteen] = [11, 13].map((hours) => new Date(Date.now() - hours * 3_600_000))
  await utimes(lock, eleven ?? 0, eleven ?? 0)
  await workspaces.releaseStaleLocks(root)
  expect(await readFile(lock, 'utf8')).toBe('')
  await utimes(lock, thirteen ?? 0, thirteen ?? 0)
  await workspaces.releaseStaleLocks(root)
  await expect(readFile(lock)).rejects.toMatchObject({ code: 'ENOENT' })
})

test.each(['moved', 'deleted'])('reports a repository that was %s everywhere, and touches no worktree', async (how) => {
  await using fixture = await withWork({ 'b.txt': 'b\n' })
  const { workspaces, repository, path } = fixture
  await repository.write({ 'c.txt': 'uncommitted\n' }, path)
  if (how === 'moved') await rename(repository.path, `${repository.path}-elsewhere`)
  else await rm(repository.path, { recursive: true })
  for (const asked of [
    () => workspaces.ensure(fixture.request({ expect: 'existing' }), never),
    () => workspaces.merge(fixture.mergeRequest(), never),
    () => workspaces.checkTarget(fixture.ref(), never),
    () => workspaces.commitAll(path, 'All\n', never),
    () => workspaces.resetWorktree(path, taskId, never),
    () => workspaces.remove({ repo_path: repository.path, path, task_id: taskId }, never),
    () => workspaces.rescues(repository.path, taskId, never),
  ]) {
    await expect(asked(), asked.toString()).rejects.toMatchObject({ name: 'WorkspaceError' })
  }
  expect(await readFile(join(path, 'c.txt'), 'utf8')).toBe('uncommitted\n')
  if (how === 'deleted') return
  await rename(`${repository.path}-elsewhere`, repository.path)
  expect(await workspaces.ensure(fixture.request({ expect: 'existing' }), never)).toMatchObject({ how: 'reused' })
  expect(await workspaces.merge(fixture.mergeRequest(), never)).toMatchObject({ kind: 'merged' })
})
