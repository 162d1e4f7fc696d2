import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createArrivalsFixture, never } from './arrivals-fixture.ts'
import { processesIn } from '../../helpers/processes-in.ts'
import { canMount, smallDisk } from './small-disk.ts'

const branch = 'refs/heads/copse/task-1'
const snapshot = 'refs/svc/live/snapshot'
const signal = never

test('brings a branch and a snapshot over HTTP, and the project gets only what is taken', async () => {
  await using fixture = await createArrivalsFixture()
  const { repository, arrivals, task, base } = fixture
  const before = await fixture.projectState()
  const job = fixture.job()
  const clone = await fixture.clone(job)
  const work = await repository.commit('Work', { 'a.txt': 'work\n' }, clone)
  const wip = await repository.commit('Uncommitted', { 'b.txt': 'wip\n' }, clone)
  const push = await fixture.git(['push', job.url, `HEAD^:${branch}`, `HEAD:${snapshot}`], { cwd: clone })
  expect(push.err).toContain('-> copse/task-1')
  expect(push.ok).toBe(true)
  const arrived = await arrivals.read(task, { signal })
  expect(arrived).toMatchObject({ branch: work, snapshot: wip, base_commit: base, others: [], late: [], replaced: [] })
  expect(await repository.git(['show', `${wip}:b.txt`], { cwd: arrived?.folder ?? '' })).toBe('wip')
  expect(await fixture.projectState()).toBe(before)
  // The next job goes on from there.
  const next = await fixture.clone(fixture.job('job-2'))
  expect(await repository.git(['rev-parse', 'HEAD'], { cwd: next })).toBe(work)
  // Only what is asked for is taken.
  expect(await arrivals.takeBranch(task, { commit: work, from: null }, { signal })).toBe('taken')
  expect(await arrivals.takeBranch(task, { commit: wip, from: base }, { signal })).toBe('moved')
  expect(await repository.git(['show', 'copse/task-1:a.txt'])).toBe('work')
  const rescue = await arrivals.rescue(task, { commit: wip, kind: 'uncommitted', reason: 'lost' }, { signal })
  expect(rescue).toMatch(/^refs\/svc\/rescue\/task-1\//)
  expect(await repository.git(['show', `${rescue}:b.txt`])).toBe('wip')
  await repository.git(['fsck', '--strict'])
  await arrivals.remove(task)
  expect(await arrivals.read(task, { signal })).toBeNull()
  expect(await readdir(join(fixture.dataDir, 'arrivals'))).toEqual([])
})

test('takes work in a repository with attributes, which its packs name and don’t contain', async () => {
  await using fixture = await createArrivalsFixture()
  const { repository } = fixture
  const job = fixture.job()
  const clone = await fixture.clone(job)
  const push = async () => (await fixture.git(['push', job.url, `HEAD:${branch}`], { cwd: clone })).err
  const attributes = { '.gitattributes': '*.txt text\n', 'deep/.gitattributes': '*.md text\n' }
  for (const [name, files] of Object.entries({
    'with attributes': attributes,
    'beside them': { 'a.txt': 'a\n', 'deep/b.txt': 'b\n' },
    'with others': { '.gitattributes': '*.txt -text\n' },
    'with the first ones again': attributes,
  })) {
    await repository.commit(name, files, clone)
    expect(await push(), name).toContain('-> copse/task-1')
  }
})

test('keeps the commits that an amended commit and a rebase replace', async () => {
  await using fixture = await createArrivalsFixture()
  const { repository, arrivals, task } = fixture
  const job = fixture.job()
  const clone = await fixture.clone(job)
  const push = (...args: string[]) => fixture.git(['push', ...args, job.url, `HEAD:${branch}`], { cwd: clone })
  const first = await repository.commit('One', { 'a.txt': '1\n' }, clone)
  expect((await push()).ok).toBe(true)
  await repository.git(['commit', '--quiet', '--amend', '-m', 'One, amended'], { cwd: clone })
  expect((await push()).ok).toBe(false)
  expect((await push('--force')).ok).toBe(true)
  const amended = await repository.git(['rev-parse', 'HEAD'], { cwd: clone })
  const second = await repository.commit('Two', { 'b.txt': '2\n' }, clone)
  expect((await push()).ok).toBe(true)
  await repository.git(['rebase', '--quiet', '--root', '--force-rebase', '--committer-date-is-author-date'], {
    cwd: clone,
    env: { GIT_COMMITTER_NAME: 'Other' },
  })
  expect((await push('--force')).ok).toBe(true)
  expect((await arrivals.read(task, { signal }))?.replaced.toSorted()).toEqual([first, second].toSorted())
  expect(await repository.git(['merge-base', amended, second], { cwd: fixture.folder })).toBe(amended)
  // The service moves the branch between jobs; what it leaves is kept too.
  const before = (await arrivals.read(task, { signal }))?.branch
  const start = { repo_path: repository.path, branch: 'copse/task-1', base_commit: fixture.base }
  const moved = await arrivals.open(task, { ...start, branch_head: fixture.base }, { signal })
  expect(moved).toMatchObject({ branch: fixture.base, replaced: expect.arrayContaining([before]) })
})

test('counts all bytes of a job, says when they are too many, and keeps nothing of that push', async () => {
  await using fixture = await createArrivalsFixture()
  const { repository } = fixture
  const job = fixture.job()
  job.max = 3 * 1024 * 1024
  const clone = await fixture.clone(job)
  const push = () => fixture.git(['push', job.url, `HEAD:${branch}`], { cwd: clone })
  for (const name of ['one', 'two']) {
    await repository.commit(name, { [name]: randomBytes(1024 * 1024) }, clone)
    expect((await push()).ok).toBe(true)
  }
  const before = await fixture.refs()
  const packs = await readdir(join(fixture.folder, 'objects', 'pack'))
  await repository.commit('three', { three: randomBytes(4 * 1024 * 1024) }, clone)
  const refused = await push()
  expect(refused.ok).toBe(false)
  expect(refused.err).toContain('more than its 3 MB (setting max_push_mb), so nothing of this push was kept')
  expect(await fixture.refs()).toEqual(before)
  expect(await readdir(join(fixture.folder, 'objects', 'pack'))).toEqual(packs)
  expect(await readdir(join(fixture.folder, 'quarantine'))).toEqual([])
})

test('drops what a cut connection brought, and takes the same push again', async () => {
  await using fixture = await createArrivalsFixture()
  const { repository, base } = fixture
  const job = fixture.job()
  const clone = await fixture.clone(job)
  const work = await repository.commit('Work', { big: randomBytes(512 * 1024) }, clone)
  const before = await fixture.refs()
  const { hostname, port } = new URL(fixture.url)
  const socket = connect(Number(port), hostname)
  const line = `${base} ${work} ${branch}\0report-status\n`
  const head = `${(line.length + 4).toString(16).padStart(4, '0')}${line}0000PACK`
  socket.write(
    `POST /api/v1/git/${job.id}.git/git-receive-pack HTTP/1.1\r\nhost: ${hostname}:${port}\r\n` +
      `authorization: Bearer ${job.token}\r\ncontent-type: application/x-git-receive-pack-request\r\n` +
      `content-length: 1000000\r\n\r\n${head}`,
  )
  await expect.poll(() => readdir(join(fixture.folder, 'quarantine')).catch(() => [])).toHaveLength(1)
  socket.destroy()
  await once(socket, 'close')
  await expect.poll(() => readdir(join(fixture.folder, 'quarantine'))).toEqual([])
  expect(await fixture.refs()).toEqual(before)
  expect((await fixture.git(['push', job.url, `HEAD:${branch}`], { cwd: clone })).ok).toBe(true)
  expect((await fixture.refs())[branch]).toBe(work)
})

test('takes two pushes at once, and only one of two that move the same ref', async () => {
  await using fixture = await createArrivalsFixture()
  const { repository } = fixture
  const job = fixture.job()
  const clones = [await fixture.clone(job, 'one'), await fixture.clone(job, 'two')]
  const works = await Promise.all(
    clones.map((clone, index) => repository.commit('Work', { [`${index}.txt`]: `${index}\n` }, clone)),
  )
  const pushes = await Promise.all(
    clones.map((cwd, index) =>
      fixture.git(['push', job.url, `HEAD:${branch}`, `HEAD:refs/svc/live/heads/${index}`], { cwd }),
    ),
  )
  const refs = await fixture.refs()
  expect(refs).toMatchObject({ 'refs/svc/live/heads/0': works[0], 'refs/svc/live/heads/1': works[1] })
  expect(pushes.filter(({ ok }) => ok)).toHaveLength(1)
  expect(refs[branch]).toBe(works[pushes.findIndex(({ ok }) => ok)])
})

test('takes work once from a job that lost its lease, apart from the task’s, and nothing once it ends', async () => {
  await using fixture = await createArrivalsFixture()
  const { repository, arrivals, task } = fixture
  const job = fixture.job()
  const clone = await fixture.clone(job)
  const work = await repository.commit('Late', { 'late.txt': 'late\n' }, clone)
  job.access = 'late'
  const before = await fixture.refs()
  const push = (...refs: string[]) => fixture.git(['push', job.url, ...refs], { cwd: clone })
  const normal = await push(`HEAD:${branch}`)
  expect(normal.err).toContain('This job has lost its lease. It may bring its work once')
  expect((await fixture.git(['fetch', job.url], { cwd: clone })).err).toContain('has lost its lease')
  expect(await fixture.refs()).toEqual(before)
  expect((await push('HEAD:refs/svc/late/branch', 'HEAD:refs/svc/late/snapshot')).ok).toBe(true)
  expect((await push('HEAD:refs/svc/late/more')).err).toContain('Once is all')
  expect((await arrivals.read(task, { signal }))?.late).toEqual([
    { name: 'job-1/branch', commit: work },
    { name: 'job-1/snapshot', commit: work },
  ])
  // Another job doesn't see it.
  const other = fixture.job('job-2')
  expect((await fixture.git(['ls-remote', other.url])).out).not.toContain('late')
  other.end.abort(new Error('over'))
  expect((await fixture.git(['push', other.url, `HEAD:${branch}`], { cwd: clone })).ok).toBe(false)
  expect((await fixture.refs())[branch]).toBe(before[branch])
})

test.skipIf(!canMount)('keeps nothing of a push that fills the disk, and says so', async () => {
  await using disk = await smallDisk(6)
  await using fixture = await createArrivalsFixture({ dataDir: disk.path })
  const { repository } = fixture
  const job = fixture.job()
  const clone = await fixture.clone(job)
  const before = await fixture.refs()
  await repository.commit('Huge', { huge: randomBytes(8 * 1024 * 1024) }, clone)
  const refused = await fixture.git(['push', job.url, `HEAD:${branch}`], { cwd: clone })
  expect(refused.ok).toBe(false)
  expect(refused.err).toContain('The disk of the service is full, so nothing of this push was kept.')
  expect(await fixture.refs()).toEqual(before)
  expect(await readdir(join(fixture.folder, 'quarantine'))).toEqual([])
  await repository.git(['reset', '--quiet', '--hard', 'HEAD^'], { cwd: clone })
  await writeFile(join(clone, 'small'), 'small\n')
  await repository.commit('Small', {}, clone)
  expect((await fixture.git(['push', job.url, `HEAD:${branch}`], { cwd: clone })).ok).toBe(true)
})

test('takes a file back that an older commit of the base had', async () => {
  await using fixture = await createArrivalsFixture()
  const { repository, arrivals, task } = fixture
  const job = fixture.job()
  const blob = await repository.git(['rev-parse', 'main:README.md'])
  await repository.git(['rm', '--quiet', 'README.md'])
  const later = await repository.commit('Without it', { 'x.txt': 'x\n' })
  const start = { repo_path: repository.path, branch: 'copse/task-1', base_commit: later, branch_head: later }
  await arrivals.open(task, start, { signal })
  const clone = await fixture.clone(job)
  await repository.git(['checkout', '--quiet', 'HEAD^', '--', 'README.md'], { cwd: clone })
  await repository.commit('Back', {}, clone)
  const pushed = await fixture.git(['push', job.url, `HEAD:${branch}`], { cwd: clone })
  expect(pushed.ok).toBe(true)
  expect(await repository.git(['rev-parse', `${branch}:README.md`], { cwd: fixture.folder })).toBe(blob)
})

test('waits for a client that reads slowly, and leaves no process when it goes', async () => {
  await using fixture = await createArrivalsFixture()
  const { repository, arrivals, task, folder } = fixture
  const bytes = 24 * 1024 * 1024
  const big = await repository.commit('Big', { big: randomBytes(bytes) })
  const start = { repo_path: repository.path, branch: 'copse/task-1', base_commit: big, branch_head: big }
  await arrivals.open(task, start, { signal })
  const job = fixture.job()
  const { hostname, port } = new URL(fixture.url)
  const body = `0032want ${big}\n00000009done\n`
  const ask = () => {
    const socket = connect(Number(port), hostname)
    socket.write(
      `POST /api/v1/git/${job.id}.git/git-upload-pack HTTP/1.1\r\nhost: ${hostname}:${port}\r\n` +
        `authorization: Bearer ${job.token}\r\ncontent-type: application/x-git-upload-pack-request\r\n` +
        `content-length: ${body.length}\r\n\r\n${body}`,
    )
    return socket
  }
  const socket = ask()
  await once(socket, 'readable')
  const held = process.memoryUsage().arrayBuffers
  await expect
    .poll(() =>
      processesIn([folder])
        .map(({ command }) => command)
        .join(),
    )
    .toContain('upload-pack')
  // What isn't read stays with git.
  expect(process.memoryUsage().arrayBuffers - held).toBeLessThan(bytes / 2)
  socket.destroy()
  await expect.poll(() => processesIn([folder]), { timeout: 10_000 }).toEqual([])
  const whole = await fixture.clone(job)
  expect((await readFile(join(whole, 'big'))).length).toBe(bytes)
})
