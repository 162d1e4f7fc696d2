import { existsSync } from 'node:fs'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { createKeyedLock } from '../../../src-main/platform/locks/keyed-lock.ts'
import { createLogger } from '../../../src-main/platform/logging/log.ts'
import { createKeptTasks } from '../../../src-main/runner/kept-tasks.ts'
import { startFarJob, type FarJob } from '../../helpers/far-job.ts'

// The folder of a task on a runner stays until the task has ended or was idle for long, and longer while it has work
// that the service doesn’t have.

const reviewed = ({ job }: FarJob, task_id: string) =>
  job.running.taskWhere(task_id, (task) => task.review_passed_at !== null && !task.entry_barrier)

const folderOf = ({ folder }: FarJob, task_id: string) => join(folder, 'tasks', task_id)

/** Runners ask at least every ten seconds. */
const isGone = (far: FarJob, task_id: string) =>
  vi.waitUntil(() => !existsSync(folderOf(far, task_id)), { timeout: 40_000, interval: 50 })

/** Looks as the runner does, for which each folder is idle that no job has used since it looked last. */
function createLook({ folder }: FarJob): () => Promise<void> {
  const log = createLogger({ level: 'silent' })
  const kept = createKeptTasks({ folder, locks: createKeyedLock(), idleMs: 0, log })
  return () => kept.sweep([], { signal: AbortSignal.timeout(60_000) })
}

const work = 'echo work >> work.txt; git add -A; git commit -qm Work'

test.concurrent('removes the folder of a task there once it has ended', async () => {
  await using far = await startFarJob()
  const { job } = far
  const agent = await job.agent(work)
  const [task, other] = [await job.task(), await job.task()]
  await job.claim(task, agent)
  await reviewed(far, task.id)
  await job.claim(other, agent)
  await reviewed(far, other.id)
  const { version } = await job.running.client.call('tasks.get', { task_id: task.id })
  await job.running.client.call('tasks.transition', { task_id: task.id, status: 'merging', version })
  await isGone(far, task.id)
  expect(await readdir(join(far.folder, 'tasks'))).toEqual([other.id])
})

test.concurrent('removes an idle folder there, and makes it again for the next run', async () => {
  await using far = await startFarJob()
  const { job } = far
  const task = await job.task()
  await job.claim(task, await job.agent(work))
  await reviewed(far, task.id)
  const look = createLook(far)
  await look()
  expect(existsSync(folderOf(far, task.id))).toBe(true)
  await look()
  expect(existsSync(folderOf(far, task.id))).toBe(false)
  await job.running.client.call('tasks.verdict', { task_id: task.id, verdict: 'fail', feedback: 'Again' })
  await job.running.taskWhere(
    task.id,
    (one) => one.review_passed_at !== null && one.review_summary?.attempt_number === 2 && !one.entry_barrier,
  )
  const branch = await job.repository.git(['for-each-ref', '--format=%(refname)', 'refs/heads/svc'])
  expect(await job.repository.git(['show', `${branch.trim()}:work.txt`])).toBe('work\nwork')
})

test.concurrent('keeps an idle folder there with work that has not arrived', async () => {
  await using far = await startFarJob()
  const { job } = far
  const task = await job.task()
  await job.claim(task, await job.agent(work))
  await reviewed(far, task.id)
  const own = join(folderOf(far, task.id), 'worktree')
  const look = createLook(far)
  await look()
  await writeFile(join(own, 'unsent.txt'), 'unsent\n')
  await look()
  await look()
  expect(existsSync(join(own, 'unsent.txt'))).toBe(true)
  await rm(join(own, 'unsent.txt'))
  await job.repository.git(['-C', own, 'branch', 'aside', 'HEAD~1'])
  await look()
  expect(existsSync(own)).toBe(true)
  await job.repository.git(['-C', own, 'branch', '-D', 'aside'])
  await look()
  expect(existsSync(own)).toBe(false)
})
