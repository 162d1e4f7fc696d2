import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { ScratchRequest } from '../../../src-main/ports/scratch-worktrees.ts'
import { createFixture, everything, never, taskId, type WorkspaceFixture } from './workspace-fixture.ts'

const request = ({ repository, root }: WorkspaceFixture, changes: Partial<ScratchRequest> = {}): ScratchRequest => ({
  repo_path: repository.path,
  root,
  at: 'main',
  copy_files: [],
  ...changes,
})

/** The repository's configuration, stash and worktree records. */
async function allOf(fixture: WorkspaceFixture): Promise<unknown> {
  const { repository } = fixture
  return {
    seen: await everything(fixture),
    git: (await readdir(join(repository.path, '.git'))).sort(),
    config: await readFile(join(repository.path, '.git', 'config'), 'utf8'),
    exclude: await readFile(join(repository.path, '.git', 'info', 'exclude'), 'utf8'),
    stash: await repository.git(['stash', 'list']),
    worktrees: await repository.git(['worktree', 'list', '--porcelain']),
  }
}

const nothingRuns = (): Promise<void> => Promise.resolve()
const leftIn = async ({ root }: WorkspaceFixture): Promise<readonly string[]> => await readdir(join(root, '.scratch'))

test('contains the files of a branch, is on none, and leaves the repository alone', async () => {
  await using fixture = await createFixture({ files: { 'a.txt': 'a\n' } })
  const { repository, workspaces } = fixture
  await repository.git(['branch', 'other'])
  await repository.commit('On main only', { 'b.txt': 'b\n' })
  await repository.write({ 'a.txt': 'stashed\n' })
  await repository.git(['stash'])
  await repository.write({ 'a.txt': 'changed\n', 'untracked.txt': 'u\n', 'staged.txt': 's\n' })
  await repository.git(['add', 'staged.txt'])
  const before = await allOf(fixture)

  const seen = await workspaces.withScratch(
    request(fixture, { at: 'other' }),
    async (path) => {
      await writeFile(join(path, 'made.txt'), 'made\n')
      await writeFile(join(path, 'a.txt'), 'written\n')
      const branch = await repository.git(['rev-parse', '--abbrev-ref', 'HEAD'], { cwd: path })
      await repository.commit('In the throw-away worktree', { 'c.txt': 'c\n' }, path)
      return { path, branch, files: (await readdir(path)).sort() }
    },
    never,
  )

  expect(seen).toMatchObject({ branch: 'HEAD', files: ['.git', 'a.txt', 'c.txt', 'made.txt'] })
  expect(dirname(dirname(seen.path))).toBe(fixture.root)
  expect(await leftIn(fixture)).toEqual([])
  expect(await allOf(fixture)).toEqual(before)
})

test('can be at a commit, with copied files, within the sparse checkout', async () => {
  await using fixture = await createFixture({
    files: { 'in/a.txt': 'a\n', 'out/b.txt': 'b\n', '.gitignore': '.env\n' },
  })
  const { repository, workspaces } = fixture
  await repository.git(['sparse-checkout', 'set', 'in'])
  await repository.write({ '.env': 'KEY=1\n' })
  const at = await repository.git(['rev-parse', 'HEAD'])
  await repository.commit('Later', { 'in/later.txt': 'l\n' })

  const files = await workspaces.withScratch(
    request(fixture, { at, copy_files: ['.env'] }),
    async (path) => ({ top: (await readdir(path)).sort(), in: await readdir(join(path, 'in')) }),
    never,
  )

  expect(files).toEqual({ top: ['.env', '.git', '.gitignore', 'in'], in: ['a.txt'] })
})

test('is removed when its work fails, even with unreadable or read-only folders', async () => {
  await using fixture = await createFixture()
  const failure = new Error('The hook was no good.')
  const attempt = fixture.workspaces.withScratch(
    request(fixture),
    async (path) => {
      await mkdir(join(path, 'modules', 'deep'), { recursive: true })
      await writeFile(join(path, 'modules', 'deep', 'file'), 'x', { mode: 0o400 })
      await chmod(join(path, 'modules', 'deep'), 0o500)
      await chmod(join(path, 'modules'), 0o000)
      // The script spoils files that git relies on.
      await writeFile(join(path, '.git'), 'gitdir: /nowhere\n')
      throw failure
    },
    never,
  )

  await expect(attempt).rejects.toBe(failure)
  expect(await leftIn(fixture)).toEqual([])
  await expect(stat(join(fixture.repository.path, '.git', 'worktrees'))).rejects.toMatchObject({ code: 'ENOENT' })
})

test('is refused for a missing branch, and creates nothing', async () => {
  await using fixture = await createFixture()
  const attempt = fixture.workspaces.withScratch(request(fixture, { at: 'gone' }), () => Promise.resolve(), never)
  await expect(attempt).rejects.toMatchObject({ code: 'git_failed', message: expect.stringContaining('“gone”') })
  await expect(readdir(fixture.root)).rejects.toMatchObject({ code: 'ENOENT' })
})

test('is removed when its checkout is cancelled', async () => {
  await using fixture = await createFixture()
  const stop = new AbortController()
  const { repository, workspaces } = fixture
  await repository.git(['config', 'filter.slow.smudge', 'sleep 30'])
  await repository.commit('Slow', { '.gitattributes': '*.slow filter=slow\n', 'a.slow': 'a\n' })
  const before = await allOf(fixture)
  const attempt = workspaces.withScratch(request(fixture), () => Promise.resolve(), { signal: stop.signal })
  const root = join(fixture.root, '.scratch')
  await expect.poll(() => readdir(root).catch(() => [])).not.toEqual([])
  stop.abort(new Error('Enough.'))
  await expect(attempt).rejects.toThrow('Enough.')
  expect(await leftIn(fixture)).toEqual([])
  expect(await allOf(fixture)).toEqual(before)
})

test('leaves the repository alone whenever its creation is cancelled', async () => {
  await using fixture = await createFixture()
  const { repository, workspaces, path } = fixture
  const traces = async () => {
    const found = await readdir(join(repository.path, '.git'), { recursive: true })
    const branches = await repository.git(['branch', '--list'])
    return { branches, left: found.filter((name) => /^worktrees.|\.lock$/.test(name)) }
  }
  /** Cancels at a random moment of git's work, or after it. */
  const cancelled = async (make: (signal: AbortSignal) => Promise<unknown>) => {
    const stop = new AbortController()
    const attempt = make(stop.signal).catch((error: unknown) => expect(error).toEqual(new Error('Enough.')))
    await setTimeout(Math.random() * 20)
    stop.abort(new Error('Enough.'))
    await attempt
  }
  const before = await traces()
  for (let round = 0; round < 15; round += 1) {
    await cancelled((signal) => workspaces.withScratch(request(fixture), () => Promise.resolve(), { signal }))
    expect(await traces()).toEqual(before)
    await cancelled((signal) => workspaces.ensure(fixture.request(), { signal }))
    if (existsSync(path)) await workspaces.remove({ ...fixture.ref(), task_id: taskId, delete_branch: true }, never)
    expect(await traces()).toEqual(before)
  }
})

test('allows two at once in one repository, and lists neither as orphan', async () => {
  await using fixture = await createFixture()
  const { workspaces, root } = fixture
  const orphans = await workspaces.withScratch(
    request(fixture),
    (one) =>
      workspaces.withScratch(
        request(fixture),
        async (other) => {
          expect(one).not.toBe(other)
          // A service starts beside this one, which still runs.
          expect(await workspaces.removeStaleScratch(root, nothingRuns)).toEqual([])
          expect((await readdir(other)).sort()).toEqual(['.git', 'README.md'])
          return await workspaces.orphans(root, [])
        },
        never,
      ),
    never,
  )
  expect(orphans).toEqual([])
  expect(await leftIn(fixture)).toEqual([])
})

test('is removed with its record at the start after a kill', async () => {
  await using fixture = await createFixture()
  const { repository, workspaces, root } = fixture
  const before = await allOf(fixture)
  const path = join(root, '.scratch', '0c5f1b3e-77a5-4b5e-8d5c-0d8a8a9f2b11')
  await repository.git(['worktree', 'add', '--quiet', '--detach', path])
  const note = { common: join(repository.path, '.git'), holder: { pid: process.pid, started: 'long ago' } }
  await writeFile(`${path}.json`, JSON.stringify(note))
  await chmod(path, 0o500)

  const thereBefore: string[] = []
  const removed = await workspaces.removeStaleScratch(root, async (left) => {
    await stat(left)
    thereBefore.push(left)
  })

  expect(removed).toEqual([path])
  expect(thereBefore).toEqual([path])
  expect(await leftIn(fixture)).toEqual([])
  expect(await allOf(fixture)).toEqual(before)
  expect(await workspaces.removeStaleScratch(join(root, 'nowhere'), nothingRuns)).toEqual([])
})

test('is removed even if a crash cut off its note', async () => {
  await using fixture = await createFixture()
  const { root, workspaces } = fixture
  const path = join(root, '.scratch', 'half')
  await mkdir(path, { recursive: true })
  await writeFile(`${path}.json`, '{"common": "/now')
  expect(await workspaces.removeStaleScratch(root, nothingRuns)).toEqual([path])
  expect(await leftIn(fixture)).toEqual([])
})
