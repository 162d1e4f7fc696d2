import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createArrivalsFixture, never } from './arrivals-fixture.ts'
import { makeSnapshot, type WorktreeSnapshot } from '../../../src-main/git/sending/make-snapshot.ts'
import { pushWork, type WorkToPush } from '../../../src-main/git/sending/push-work.ts'

const branch = 'refs/heads/copse/task-1'
const snapshotRef = 'refs/svc/live/snapshot'
const signal = never

/** A runner's clone that pushes with the token of a job. */
async function createSender(options: Parameters<typeof createArrivalsFixture>[0] = {}) {
  const fixture = await createArrivalsFixture(options)
  const job = fixture.job()
  const clone = await fixture.clone(job)
  const objects = join(fixture.dataDir, '..', 'snapshot-objects')
  const target = { url: `${fixture.url}/api/v1/git/${job.id}.git`, token: job.token }
  const snap = (previous: WorktreeSnapshot | null = null, max_file_bytes = 50 * 1024 * 1024) =>
    makeSnapshot(clone, { signal, max_file_bytes, objects, previous })
  return {
    fixture,
    clone,
    objects,
    snap,
    git: (...args: string[]) => fixture.repository.git(args, { cwd: clone }),
    push: (snapshot: WorktreeSnapshot | null, more: Partial<WorkToPush> = {}) =>
      pushWork(
        {
          worktree: clone,
          branch: 'copse/task-1',
          snapshot: snapshot && { commit: snapshot.commit, objects },
          everything: false,
          ...more,
        },
        target,
        { signal },
      ),
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  }
}

test('sends uncommitted files during a conflict, stash, branches and nested repositories by one push', async () => {
  await using sender = await createSender()
  const { fixture, clone, git } = sender
  const { repository, folder } = fixture
  await writeFile(join(clone, 'README.md'), 'ours\n')
  await repository.commit('Ours', {}, clone)
  await git('switch', '--quiet', '--create', 'side', 'HEAD^')
  const side = await repository.commit('Theirs', { 'README.md': 'theirs\n' }, clone)
  await git('switch', '--quiet', 'copse/task-1')
  await writeFile(join(clone, 'stashed.txt'), 'stashed\n')
  await git('stash', '--quiet', '--include-untracked')
  const stash = await git('rev-parse', 'stash')
  await repository.write({ 'inner/.gitignore': 'junk\n', 'inner/file.txt': 'inner\n' }, clone)
  await git('init', '--quiet', 'inner')
  const inner = await repository.commit('Inner', {}, join(clone, 'inner'))
  await git('rebase', 'side').catch(() => undefined)
  await repository.write(
    { 'new.txt': 'new\n', 'large.bin': new Uint8Array(3000), '.gitignore': 'ignored\n', ignored: 'x' },
    clone,
  )
  const index = await readFile(join(clone, '.git', 'index'))
  const loose = await git('count-objects')
  const taken = await sender.snap(null, 2000)
  expect(taken).toMatchObject({ left_out: [{ path: 'large.bin', bytes: 3000 }], complete: true, head: side })
  expect(await readFile(join(clone, '.git', 'index'))).toEqual(index)
  expect(await git('count-objects')).toBe(loose)
  expect(await sender.snap(taken, 2000)).toEqual(taken)

  // What the run wrote there acts on nothing.
  await git('config', `url.http://127.0.0.1:1/.insteadOf`, fixture.url)
  await repository.write({ '.git/hooks/pre-push': '#!/bin/sh\nexit 1\n' }, clone)
  const pushed = await sender.push(taken, { everything: true })
  expect(pushed.filter(({ refusal }) => refusal !== null)).toEqual([])
  expect(await fixture.refs()).toMatchObject({
    [branch]: await git('rev-parse', branch),
    [snapshotRef]: taken?.commit,
    'refs/svc/live/heads/side': side,
    [`refs/svc/live/stash/${stash}`]: stash,
    'refs/svc/live/nested/inner': inner,
  })
  const arrived = (name: string) => repository.git(['show', `${snapshotRef}:${name}`], { cwd: folder })
  expect(await arrived('new.txt')).toBe('new')
  expect(await arrived('README.md')).toContain('<<<<<<<')
  expect(await arrived('inner/file.txt')).toBe('inner')
  await expect(arrived('large.bin')).rejects.toThrow()
  await expect(arrived('ignored')).rejects.toThrow()
})

/** A day has thousands of them: `COPSE_SNAPSHOTS=300` for more than a few. */
const rounds = Number(process.env['COPSE_SNAPSHOTS'] ?? 12)

test(
  'leaves no trace of many snapshots in the project, and keeps the last alone with what was judged',
  { timeout: rounds * 20_000 },
  async () => {
    await using sender = await createSender({ maxPacks: 5 })
    const { fixture, clone } = sender
    const before = await fixture.projectState()
    let last: WorktreeSnapshot | null = null
    let judged = ''
    for (let round = 0; round < rounds; round += 1) {
      await writeFile(join(clone, 'wip.txt'), `${round} ${'x'.repeat(2000)}\n`)
      last = await sender.snap(last)
      expect((await sender.push(last)).map(({ refusal }) => refusal)).toEqual([null, null])
      if (round === 3) {
        judged = last?.commit ?? ''
        await fixture.arrivals.keep(fixture.task, judged, { signal })
      }
    }
    expect(await fixture.projectState()).toBe(before)
    const packs = (await readdir(join(fixture.folder, 'objects', 'pack'))).filter((name) => name.endsWith('.pack'))
    expect(packs.length).toBeLessThanOrEqual(6)
    const isThere = async (commit: string) =>
      (await fixture.git(['--git-dir', fixture.folder, 'cat-file', '-e', commit])).ok
    expect(await isThere(judged)).toBe(true)
    expect(await isThere(last?.commit ?? '')).toBe(true)
    const objects = await fixture.git(['--git-dir', fixture.folder, 'count-objects', '-v'])
    // Each snapshot has three objects: those since all were put into one pack, the last before and the judged one.
    const count = Number(/in-pack: (\d+)/.exec(objects.out)?.[1])
    expect(count).toBeLessThanOrEqual(3 * 7)
    expect(/^count: 0$/m.test(objects.out)).toBe(true)
    expect(await fixture.arrivals.size(fixture.task, { signal })).toBeLessThan(1024 * 1024)
  },
)
