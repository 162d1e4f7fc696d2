import { mkdir, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createKeyedLock } from '../../../src-main/platform/locks/keyed-lock.ts'
import { createFolderWatches, type FolderWatches } from '../../../src-main/git/watch/folder-watches.ts'
import { pauseBeforeLook } from '../../../src-main/git/watch/polling-watcher.ts'
import { createTreeWatch } from '../../../src-main/git/watch/tree-watch.ts'
import { watchWorktree, type WatchOptions } from '../../../src-main/git/watch/watch-worktree.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { systemWatches } from '../../helpers/system-watches.ts'
import { createFixture, never } from './workspace-fixture.ts'

const allowFiles = ['-c', 'protocol.file.allow=always']
const timing = { quietMs: 20, latestMs: 200, pauseMs: 0 }

/** Watches a task's worktree; counts its events, and waits for them. */
async function watched(files: Record<string, string> = {}, options: Partial<WatchOptions> = {}) {
  const fixture = await createFixture({
    files: { 'README.md': '# Example\n', '.gitignore': '*.log\nnode_modules/\n', ...files },
  })
  await fixture.workspaces.ensure(fixture.request(), never)
  const { path, repository } = fixture
  const turns = createKeyedLock()
  const seen = { changes: 0, ends: 0, turns: 0 }
  const news = new EventTarget()
  const happened = (what: keyof typeof seen) => {
    seen[what] += 1
    news.dispatchEvent(new Event('news'))
  }
  const until = async (fits: () => boolean) => {
    while (!fits()) await new Promise((resolve) => news.addEventListener('news', resolve, { once: true }))
  }
  let folders: FolderWatches | null = null
  const events: string[] = []
  const create = options.folders ?? createFolderWatches
  const watch = await watchWorktree(
    path,
    { onChange: () => happened('changes'), onEnd: () => happened('ends') },
    {
      timing,
      inTurn: (work) => turns.run('git', work).finally(() => happened('turns')),
      ...options,
      folders: (given) => {
        const onEvent = (key: string, moved: boolean) => {
          events.push(key)
          news.dispatchEvent(new Event('news'))
          given.onEvent(key, moved)
        }
        folders = create({ ...given, onEvent })
        return folders
      },
    },
  )
  return {
    fixture,
    repository,
    path,
    watch,
    seen,
    until,
    events,
    /** Creates a file by a single event. */
    put: async (name: string, text: string) => {
      const outside = join(fixture.root, 'outside.txt')
      await writeFile(outside, text)
      await rename(outside, join(path, name))
    },
    folders: () => folders?.size() ?? 0,
    /** Acts and waits until that is reported. */
    told: async (work: () => Promise<unknown>) => {
      const before = seen.changes
      await work()
      await until(() => seen.changes > before)
    },
    /** Acts and waits until that was handled: `turns` queries to git. */
    asked: async (work: () => Promise<unknown>, turns = 1) => {
      const before = seen.turns
      await work()
      await until(() => seen.turns >= before + turns)
    },
    [Symbol.asyncDispose]: async () => {
      await watch.close()
      await fixture[Symbol.asyncDispose]()
    },
  }
}

test.each([
  ['folder by folder', createFolderWatches],
  ['as one tree', createTreeWatch],
] as const)('reports written, moved and deleted files, in new folders too (%s)', async (_name, folders) => {
  await using rig = await watched({ 'src/deep/a.txt': 'a\n' }, { folders })
  const { path, told } = rig
  await told(() => writeFile(join(path, 'src/deep/a.txt'), 'b\n'))
  await told(() => writeFile(join(path, 'new.txt'), 'n\n'))
  await told(() => unlink(join(path, 'new.txt')))
  await told(() => mkdir(join(path, 'one/two/three'), { recursive: true }))
  await told(() => writeFile(join(path, 'one/two/three/f.txt'), '1\n'))
  await told(() => rename(join(path, 'one'), join(path, 'uno')))
  await told(() => writeFile(join(path, 'uno/two/three/f.txt'), '2\n'))
  await told(() => rm(join(path, 'uno'), { recursive: true }))
  expect(rig.watch.how()).toBe('watching')
})

test('ignores ignored files, and watches no ignored folders', async () => {
  await using rig = await watched({ 'src/a.txt': 'a\n' })
  const { path, asked, told, put } = rig
  await asked(() => put('app.log', 'l\n'))
  const before = rig.folders()
  const modules = join(path, 'node_modules')
  await asked(async () => {
    for (let number = 0; number < 50; number += 1) {
      await mkdir(join(modules, `m${number}/lib`), { recursive: true })
      await writeFile(join(modules, `m${number}/lib/index.js`), 'x')
    }
  }, 2)
  expect(rig.folders()).toBe(before)
  await told(() => put('src/a.txt', 'b\n'))
  expect(rig.seen.changes).toBe(1)
  await told(() => writeFile(join(path, '.gitignore'), 'nothing\n'))
  expect(rig.folders()).toBe(before + 1 + 2 * 50)
  await told(() => writeFile(join(modules, 'm7/lib/index.js'), 'y'))
})

test('ignores the lock of the service', async () => {
  await using rig = await watched()
  const { fixture, path, told, put } = rig
  const execution_id = '01912d68-783e-7a03-8467-5661c1243ad5' as never
  await fixture.workspaces.lock(path, { execution_id, pid: null })
  await fixture.workspaces.unlock(path, execution_id)
  await told(() => put('a.txt', 'a\n'))
  expect(rig.seen.changes).toBe(1)
})

test('reports commits, resets and staged files', async () => {
  await using rig = await watched({ 'a.txt': 'a\n' })
  const { repository, path, told } = rig
  await told(() => writeFile(join(path, 'a.txt'), 'b\n'))
  await told(() => repository.git(['add', 'a.txt'], { cwd: path }))
  await told(() => repository.git(['commit', '-q', '-m', 'Work'], { cwd: path }))
  await told(() => repository.git(['reset', '-q', '--soft', 'HEAD~1'], { cwd: path }))
})

test('reports nothing when a diff or the status is read', async () => {
  await using rig = await watched({ 'a.txt': 'a\n' })
  const { fixture, told, put } = rig
  await told(() => put('a.txt', 'b\n'))
  await fixture.workspaces.diff(fixture.ref(), 'branch', null, never)
  await fixture.workspaces.diff(fixture.ref(), 'uncommitted', null, never)
  await fixture.workspaces.status(fixture.ref(), never)
  await told(() => put('a.txt', 'c\n'))
  expect(rig.seen.changes).toBe(2)
})

test('reports a repository inside on another commit, but not its files', async () => {
  await using library = await createTestRepository({ files: { 'l.txt': 'l\n', 'deep/m.txt': 'm\n' } })
  await using rig = await watched()
  const { repository, path, told, put, until, events } = rig
  await told(() => repository.git([...allowFiles, 'submodule', '--quiet', 'add', library.path, 'lib'], { cwd: path }))
  await told(() => repository.git(['commit', '-q', '-m', 'Add the library'], { cwd: path }))
  await told(() => put('mark.txt', '1\n'))
  await until(() => events.includes('mark.txt'))
  const known = events.length
  await writeFile(join(path, 'lib/l.txt'), 'changed\n')
  await writeFile(join(path, 'lib/deep/m.txt'), 'changed\n')
  await put('mark2.txt', '2\n')
  // Events arrive in the order of the writes.
  await until(() => events.includes('mark2.txt'))
  expect(events.slice(known).filter((key) => key.startsWith('lib'))).toEqual([])
  const ahead = repository.commit('Ahead', { 'l.txt': 'ahead\n' }, join(path, 'lib'))
  await until(() => events.slice(known).includes('lib'))
  await ahead
})

test('notices when a folder becomes a repository inside, or a plain folder again', async () => {
  await using library = await createTestRepository({ files: { 'l.txt': 'l\n' } })
  await using rig = await watched()
  const { path, told, put, until, events, folders } = rig
  const heard = async (name: string) => {
    const known = events.length
    await writeFile(join(path, 'lib/deep/m.txt'), `${name}\n`)
    await put(name, '1\n')
    await until(() => events.includes(name))
    return events.slice(known).filter((key) => key.startsWith('lib'))
  }
  await told(() => mkdir(join(path, 'lib/deep'), { recursive: true }))
  await until(() => folders() === 3)
  await rename(join(library.path, '.git'), join(path, 'lib/.git'))
  await until(() => folders() === 2)
  expect(await heard('one.txt')).toEqual([])
  await rename(join(path, 'lib/.git'), join(library.path, '.git'))
  await until(() => folders() === 3)
  expect(await heard('two.txt')).toContain('lib/deep/m.txt')
})

test('reports a burst of thousands of changes a few times, and what follows', async () => {
  await using rig = await watched()
  const { path, told } = rig
  await told(async () => {
    for (let folder = 0; folder < 40; folder += 1) {
      await mkdir(join(path, `d${folder}/e`), { recursive: true })
      await Promise.all(
        Array.from({ length: 50 }, (_, file) => writeFile(join(path, `d${folder}/e/f${file}.txt`), `${file}\n`)),
      )
    }
  })
  await told(() => writeFile(join(path, 'last.txt'), 'l\n'))
  await told(() => writeFile(join(path, 'd39/e/f49.txt'), 'changed\n'))
  await told(() => writeFile(join(path, 'd0/e/f0.txt'), 'changed\n'))
  expect(rig.seen.changes).toBeLessThan(60)
  expect(rig.folders()).toBe(1 + 2 * 40)
})

test('follows no links, and watches names that are no UTF-8', async () => {
  await using outside = await createTestRepository()
  await using rig = await watched()
  const { path, told } = rig
  await told(() => symlink(outside.path, join(path, 'out')))
  await told(() => symlink('.', join(path, 'loop')))
  const folder = Buffer.concat([Buffer.from(`${path}/caf`), Buffer.from([0xe9])])
  await told(() => mkdir(folder))
  await told(() => writeFile(Buffer.concat([folder, Buffer.from('/f.txt')]), 'x\n'))
  expect(rig.folders()).toBe(2)
})

test('polls files if there are too many folders to watch, also for a second change', async () => {
  await using rig = await watched({ 'a/b/c/d.txt': 'd\n', 'e.txt': 'e\n' }, { limit: 2, lookEveryMs: 20 })
  const { path, told, watch } = rig
  expect(watch.how()).toBe('looking')
  expect(rig.folders()).toBe(0)
  // The first poll reports what it finds.
  await rig.until(() => rig.seen.changes > 0)
  await told(() => writeFile(join(path, 'e.txt'), 'one\n'))
  await told(() => writeFile(join(path, 'e.txt'), 'two\n'))
  await told(() => writeFile(join(path, 'new.txt'), 'n\n'))
  await told(() => rig.repository.git(['add', '.'], { cwd: path }))
  await told(() => rig.repository.git(['commit', '-q', '-m', 'All'], { cwd: path }))
  await rig.fixture.workspaces.remove({ ...rig.fixture.request(), task_id: 'x' as never }, never)
  await rig.until(() => rig.seen.ends === 1)
  expect(watch.how()).toBe('ended')
})

test('looks at once after a move of HEAD and for a new watcher, where it polls', async () => {
  await using rig = await watched({ 'a/b/c.txt': 'c\n' }, { limit: 2, lookEveryMs: 600_000 })
  const { path, told, watch } = rig
  await told(() => rig.repository.git(['commit', '-q', '--allow-empty', '-m', 'Mine'], { cwd: path }))
  await told(async () => {
    await writeFile(join(path, 'a/b/c.txt'), 'again\n')
    watch.lookSoon()
  })
})

test('polls the more rarely the longer nothing changes, down to a two thousandth of the time', () => {
  const seconds = (quiet: number) => pauseBeforeLook(3_000, 500, quiet * 1_000) / 1_000
  expect([0, 60, 600, 3_600, 36_000].map(seconds)).toEqual([5, 6, 60, 360, 1_000])
})

test('changes to polling when the folders become too many', async () => {
  await using rig = await watched({}, { limit: 5, lookEveryMs: 20 })
  const { path, told, watch } = rig
  expect(watch.how()).toBe('watching')
  await told(async () => {
    for (let number = 0; number < 9; number += 1) await mkdir(join(path, `d${number}`), { recursive: true })
    await writeFile(join(path, 'd8/f.txt'), 'f\n')
  })
  await rig.until(() => watch.how() === 'looking')
  await told(() => writeFile(join(path, 'd8/f.txt'), 'again\n'))
})

test('ends its watch when the worktree is removed or replaced', async () => {
  for (const replace of [false, true]) {
    await using rig = await watched()
    await rm(rig.path, { recursive: true })
    if (replace) await mkdir(rig.path)
    await rig.until(() => rig.seen.ends === 1)
    expect(rig.watch.how()).toBe('ended')
  }
})

test.runIf(process.platform === 'linux')('leaves no system watch after close', async () => {
  const before = systemWatches()
  await using rig = await watched({ 'a/b/c.txt': 'c\n', 'd/e.txt': 'e\n' })
  // The root, a, a/b, d, and the folders of HEAD and its log.
  expect(systemWatches()).toBe(before + 6)
  await writeFile(join(rig.path, 'late.txt'), 'l\n')
  await rig.watch.close()
  expect(systemWatches()).toBe(before)
  expect(rig.watch.how()).toBe('ended')
  expect(rig.seen).toMatchObject({ ends: 0 })
})

test('can’t watch what is no worktree', async () => {
  await using fixture = await createFixture()
  const news = { onChange: () => undefined, onEnd: () => undefined }
  await expect(fixture.workspaces.watch(fixture.path, news)).rejects.toMatchObject({ code: 'git_failed' })
})
