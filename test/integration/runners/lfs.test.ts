import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { findOnPath } from '../../../src-main/platform/process/find-on-path.ts'
import { startFarJob, type FarJob } from '../../helpers/far-job.ts'
import { present } from '../../helpers/present.ts'

// A filter of the machine would look for what is nowhere.
Object.assign(process.env, { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' })

const content = `content of a large file\n${'x'.repeat(3_000)}\0\u00ff\n`
const idOf = (text: string | Buffer) => createHash('sha256').update(text).digest('hex')
const pointerOf = (text: string | Buffer) =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${idOf(text)}\nsize ${Buffer.byteLength(text)}\n`
const objectIn = (repository: string, oid: string) =>
  join(repository, '.git', 'lfs', 'objects', oid.slice(0, 2), oid.slice(2, 4), oid)

/** Commits a file as Git LFS does. */
async function commitLarge({ job }: FarJob): Promise<void> {
  const object = objectIn(job.repository.path, idOf(content))
  await mkdir(dirname(object), { recursive: true })
  await writeFile(object, content)
  await job.repository.commit('Add a large file', {
    '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n',
    'base.bin': pointerOf(content),
    'absent.bin': pointerOf('nowhere'),
  })
}

const inReview = ({ job }: FarJob, id: string, attempt: number) =>
  job.running.taskWhere(
    id,
    (one) => one.review_passed_at !== null && !one.entry_barrier && one.review_summary?.attempt_number === attempt,
  )

test('brings what files of Git LFS contain to a runner, and back from there', async () => {
  await using far = await startFarJob()
  const { job } = far
  const { client } = job.running
  await commitLarge(far)
  const agent = await job.agent(
    `sha256sum base.bin | cut -c 1-64 >> seen.txt; head -c 60 absent.bin | head -1 > absent.txt
if [ -e new.bin ]; then sha256sum new.bin late.bin | cut -c 1-64 >> seen.txt; printf more >> new.bin; git add -A; git commit -qm More; exit; fi
printf 'new\\n' > new.bin; : > empty.bin; git add -A; git commit -qm Work; printf 'uncommitted\\n' > late.bin; git status --porcelain > status.txt`,
  )
  const task = await job.task()
  const { path } = await job.claim(task, agent)
  await inReview(far, task.id, 1)
  expect(await job.repository.git(['show', `HEAD:new.bin`], { cwd: path })).toBe(pointerOf('new\n').trim())
  for (const text of ['new\n', 'uncommitted\n'])
    expect(await readFile(objectIn(job.repository.path, idOf(text)), 'utf8')).toBe(text)
  expect(await readFile(join(path, 'absent.txt'), 'utf8')).toBe('version https://git-lfs.github.com/spec/v1\n')
  // A file that no one changed is not a change.
  expect(await readFile(join(path, 'status.txt'), 'utf8')).toBe('?? late.bin\n?? status.txt\n')
  await client.call('tasks.verdict', { task_id: task.id, verdict: 'fail', feedback: 'More' })
  const reviewed = await inReview(far, task.id, 2)
  const seen = (await readFile(join(path, 'seen.txt'), 'utf8')).trim().split('\n')
  expect(seen).toEqual([idOf(content), idOf(content), idOf('new\n'), idOf('uncommitted\n')])
  await client.call('tasks.transition', { task_id: task.id, status: 'merging', version: reviewed.version })
  expect(await job.repository.git(['show', 'main:new.bin'])).toBe(pointerOf('new\nmore').trim())
  expect(await readFile(objectIn(job.repository.path, idOf('new\nmore')), 'utf8')).toBe('new\nmore')
})

test('brings them again to a folder there that is new, or was lost', async () => {
  await using far = await startFarJob()
  const { job, folder } = far
  await commitLarge(far)
  const agent = await job.agent('cp base.bin copy.txt; printf made > made.bin; git add -A; git commit -qm Work')
  const task = await job.task({ review_config: { ci_steps: ['cmp base.bin copy.txt && cat made.bin'] } })
  await job.settings({
    landing: { mode: 'serial', steps: ['cat made.bin; cmp base.bin copy.txt'], max_parallel: 1, retry_failed: false },
  })
  await job.claim(task, agent)
  const reviewed = await inReview(far, task.id, 1)
  execFileSync('rm', ['-rf', join(folder, 'tasks', task.id)])
  // A landing works in a folder of its own.
  const { task: merged } = await job.running.client.call('tasks.transition', {
    task_id: task.id,
    status: 'merging',
    version: reviewed.version,
  })
  expect(merged.status).toBe('done')
})

test('lends no object that only the job itself names, and takes none under another name', async () => {
  await using far = await startFarJob()
  const { job } = far
  await commitLarge(far)
  const secret = objectIn(job.repository.path, idOf('secret'))
  await mkdir(dirname(secret), { recursive: true })
  await writeFile(secret, 'secret')
  const lies = idOf('another')
  const agent = await job.agent(
    `printf '${pointerOf('secret').replaceAll('\n', '\\n')}' > secret.bin; git add -A; git commit -qm Work
store=$(git rev-parse --git-common-dir)/lfs/objects; mkdir -p $store/${lies.slice(0, 2)}/${lies.slice(2, 4)}; echo lies > $store/${lies.slice(0, 2)}/${lies.slice(2, 4)}/${lies}
until [ -e go.txt ]; do sleep 0.05; done`,
  )
  const task = await job.task()
  await job.claim(task, agent)
  const jobs = () => execFileSync('sh', ['-c', `cat ${far.folder}/jobs/*/job.json`], { encoding: 'utf8' })
  await job.running.eventually(
    () => job.running.client.call('tasks.diff', { task_id: task.id, scope: 'branch' }),
    ({ files }) => files.some(({ path }) => path === 'secret.bin'),
  )
  const { offer, job: id } = JSON.parse(jobs()) as { offer: { token: string }; job: string }
  const get = (oid: string) =>
    fetch(`${job.running.url}/api/v1/git/${id}.git/lfs/objects/${oid}`, {
      headers: { authorization: `Bearer ${offer.token}` },
    })
  expect((await get(idOf('secret'))).status).toBe(404)
  expect(await (await get(idOf(content))).text()).toBe(content)
  expect((await get('..%2f..%2fconfig')).status).toBe(404)
  await writeFile(join(far.folder, 'tasks', task.id, 'worktree', 'go.txt'), '')
  await inReview(far, task.id, 1)
  expect(existsSync(objectIn(job.repository.path, lies))).toBe(false)
})

const lfs = findOnPath('git-lfs')
if (lfs === null) console.warn('left out: Git LFS on the service’s machine (missing: git-lfs)')

test.runIf(lfs !== null)('shows the content here where git-lfs is', async () => {
  await using far = await startFarJob()
  const { job } = far
  const { path: repository } = job.repository
  const git = (...args: string[]) => execFileSync('git', args, { cwd: repository, encoding: 'utf8' })
  git('lfs', 'install', '--local')
  git('lfs', 'track', '*.bin')
  await writeFile(join(repository, 'base.bin'), content)
  git('add', '-A')
  git('commit', '-qm', 'Add a large file')
  // It is trusted as it is now.
  const { items } = await job.running.client.call('repos.list', { project_id: job.project.id })
  const repo = { project_id: job.project.id, repo_id: present(items[0]).id }
  await job.running.client.call('repos.update', { ...repo, path: repository })
  const agent = await job.agent(
    'cp base.bin copy.txt; printf made > made.bin; git add -A; git commit -qm Work; printf open > open.bin',
  )
  const task = await job.task()
  const { path } = await job.claim(task, agent)
  await inReview(far, task.id, 1)
  for (const [name, text] of [
    ['base.bin', content],
    ['copy.txt', content],
    ['made.bin', 'made'],
    ['open.bin', 'open'],
  ] as const)
    expect(await readFile(join(path, name), 'utf8'), name).toBe(text)
  expect(execFileSync('git', ['status', '--porcelain'], { cwd: path, encoding: 'utf8' })).toBe('?? open.bin\n')
})
