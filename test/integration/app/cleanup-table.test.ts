import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { createLogLines } from '../../helpers/log-lines.ts'
import { refusalOf } from '../../helpers/refusal.ts'
import { smallWorkflow, withHooks } from '../../helpers/small-workflow.ts'

const start = Date.parse('2026-11-21T09:00:00.000Z')
const workspace = (job: Job, { id }: Task) => job.running.client.call('tasks.workspace', { task_id: id })
const whenCleaned = (job: Job, task: Task) =>
  job.running.eventually(
    () => workspace(job, task),
    (one) => one.status === 'cleaned',
  )

async function move(job: Job, { id }: Task, status: string): Promise<Task> {
  const { version } = await job.running.client.call('tasks.get', { task_id: id })
  return (await job.running.client.call('tasks.transition', { task_id: id, status, version })).task
}

/** A task whose agent left uncommitted work and failed. */
async function left(job: Job): Promise<{ task: Task; path: string }> {
  const task = await job.task({ title: 'Leave' })
  const { path } = await job.claim(task, await job.agent('echo left > left.txt; exit 1'))
  await job.running.taskWhere(task.id, (one) => one.error_annotation?.type === 'execution_failed')
  return { task, path }
}

async function reviewed(job: Job, command: string): Promise<{ task: Task; path: string }> {
  const task = await job.task({ title: 'Review' })
  const { path } = await job.claim(task, await job.agent(`${command}; echo done`))
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  return { task, path }
}

const keptOf = async (job: Job, { id: task_id }: Task) =>
  (await job.running.client.call('rescues.of_task', { task_id })).items

/** The workflow with other clean-ups than the built-in ones. */
const withCleanup = (cleanups: Readonly<Record<string, object>>) => () => {
  const workflow = smallWorkflow({})()
  const states = workflow.states.map((one) => ({ ...one, ...(cleanups[one.name] && { cleanup: cleanups[one.name] }) }))
  return { ...workflow, states }
}

test.concurrent('done: removes the worktree at once and emits that', async () => {
  await using job = await startJob()
  const { task, path } = await reviewed(job, 'echo work > work.txt')
  const stop = new AbortController()
  const events = job.running.client.events({}, null, stop.signal)[Symbol.asyncIterator]()
  const cleaned = (async () => {
    for (;;) {
      const { done, value } = await events.next()
      if (done) throw new Error('The events ended.')
      if (value.kind === 'event' && value.event.type === 'workspace.cleaned') return value.event.data
    }
  })()
  expect(await move(job, task, 'merging')).toMatchObject({ status: 'done' })
  expect(await cleaned).toMatchObject({ task_id: task.id, project_id: job.project.id })
  stop.abort()
  expect(existsSync(path)).toBe(false)
  expect(await workspace(job, task)).toMatchObject({ status: 'cleaned', cleanup_at: null, error: null })
  expect(await job.repository.git(['worktree', 'list', '--porcelain'])).not.toContain(path)
})

test.concurrent('done with undeletable files: marks the workspace as error and keeps the task done', async () => {
  const { log, line } = createLogLines()
  // The last hook before the clean-up writes a file that changes at every read.
  const script = ['echo "slow.txt filter=restless" > .gitattributes; echo s > slow.txt; echo b > busy.txt'].join('\n')
  await using job = await startJob({ log, workflow: withHooks({ merging: { on_exit: [{ script }] } }) })
  await job.repository.git(['config', 'filter.restless.clean', 'cat; echo more >> busy.txt'])
  const { id: project_id, repos } = job.project
  const repo_id = repos[0]?.id ?? ''
  await job.running.client.call('repos.update', { project_id, repo_id, path: job.repository.path })
  const { task, path } = await reviewed(job, 'echo work > work.txt')
  await move(job, task, 'merging')
  const failed = await job.running.eventually(
    () => workspace(job, task),
    (one) => one.status === 'error',
  )
  expect(failed.error).toContain('changed while they were being kept')
  expect(await line('a worktree could not be removed')).toMatchObject({ task_id: task.id })
  expect(await job.running.client.call('tasks.get', { task_id: task.id })).toMatchObject({
    status: 'done',
    error_annotation: null,
  })
  expect(await readFile(join(path, 'slow.txt'), 'utf8')).toBe('s\n')
  expect(await job.repository.git(['show', 'main:work.txt'])).toBe('work')

  // A person's retry is refused while the reason lasts.
  const again = () => job.running.client.call('tasks.clean_up_workspace', { task_id: task.id })
  expect(await refusalOf(again())).toBe('workspace_failed')
  await job.repository.git(['config', '--unset', 'filter.restless.clean'])
  expect(await again()).toMatchObject({ status: 'cleaned', error: null })
  expect(existsSync(path)).toBe(false)
  expect((await keptOf(job, task)).length).toBeGreaterThan(0)
})

test.concurrent.each([
  ['24 hours', undefined, 86_400],
  ['what SVC_WORKSPACE_CLEANUP_DELAY_SECONDS says', 60, 60],
])(
  'cancelled: removes the worktree after %s, also across a restart, and keeps its work',
  async (_, setting, seconds) => {
    const time = { ms: start }
    await using job = await startJob({
      clock: { now: () => time.ms },
      ...(setting !== undefined && { config: { cleanupDelaySeconds: setting } }),
    })
    const { task, path } = await left(job)
    await job.running.client.call('tasks.cancel', { task_id: task.id })
    const scheduled = await job.running.eventually(
      () => workspace(job, task),
      (one) => one.status === 'cleanup_scheduled',
    )
    expect(scheduled.cleanup_at).toBe(new Date(start + seconds * 1_000).toISOString())
    time.ms += seconds * 1_000 - 1
    job.running = await job.running.restart()
    expect(await workspace(job, task)).toMatchObject({ status: 'cleanup_scheduled', cleanup_at: scheduled.cleanup_at })
    expect(existsSync(path)).toBe(true)
    time.ms += 1
    job.running = await job.running.restart()
    await whenCleaned(job, task)
    expect(existsSync(path)).toBe(false)
    expect(await keptOf(job, task)).toMatchObject([{ reason: 'removal', kind: 'uncommitted', files: 1 }])
  },
)

test.concurrent('merge_failed: removes the worktree, keeps its branch, and creates it again at the next claim', async () => {
  await using job = await startJob({ files: { 'shared.txt': 'base\n' } })
  const { task, path } = await reviewed(job, 'echo theirs > shared.txt')
  await job.repository.commit('Mine', { 'shared.txt': 'mine\n' })
  expect(await move(job, task, 'merging')).toMatchObject({ status: 'merge_failed' })
  const { branch } = await whenCleaned(job, task)
  expect(existsSync(path)).toBe(false)
  expect(await job.repository.git(['show', `${branch}:shared.txt`])).toBe('theirs')
  await move(job, task, 'in_progress')
  await job.running.eventually(
    () => job.executions(task.id),
    (all) => all.length === 2 && all.every((one) => one.status === 'succeeded'),
  )
  expect(await workspace(job, task)).toMatchObject({ status: 'ready', path, branch })
  expect(await readFile(join(path, 'shared.txt'), 'utf8')).toBe('theirs\n')
})

test.concurrent('custom terminal state: removes the worktree at once, unless it declares otherwise', async () => {
  const time = { ms: start }
  await using job = await startJob({
    clock: { now: () => time.ms },
    workflow: withCleanup({ cancelled: { policy: 'immediate' } }),
  })
  const done = await left(job)
  await move(job, done.task, 'done')
  await whenCleaned(job, done.task)
  expect(existsSync(done.path)).toBe(false)
  const cancelled = await left(job)
  await job.running.client.call('tasks.cancel', { task_id: cancelled.task.id })
  await whenCleaned(job, cancelled.task)
  expect(existsSync(cancelled.path)).toBe(false)
  for (const { task } of [done, cancelled]) expect(await keptOf(job, task)).toMatchObject([{ files: 1 }])
})

test.concurrent('custom terminal state with a delay: keeps the worktree that long, across a restart', async () => {
  const time = { ms: start }
  await using job = await startJob({
    clock: { now: () => time.ms },
    workflow: withCleanup({ done: { policy: 'delayed', seconds: 7 } }),
  })
  const { task, path } = await left(job)
  await move(job, task, 'done')
  const scheduled = await job.running.eventually(
    () => workspace(job, task),
    (one) => one.status === 'cleanup_scheduled',
  )
  expect(scheduled.cleanup_at).toBe('2026-11-21T09:00:07.000Z')
  time.ms += 7_000
  job.running = await job.running.restart()
  await whenCleaned(job, task)
  expect(existsSync(path)).toBe(false)
})

test.concurrent('lets a person remove a worktree early, but not one that is needed', async () => {
  await using job = await startJob()
  const { client } = job.running
  const cleanUp = ({ id: task_id }: Task) => client.call('tasks.clean_up_workspace', { task_id })
  const { task, path } = await left(job)
  expect(await refusalOf(cleanUp(task))).toBe('recovery_not_available')
  expect(await refusalOf(cleanUp(await job.task({ title: 'Fresh' })))).toBe('not_found')
  const turn = await job.task({ title: 'Turn', parent_id: task.id, subtask_mode: 'ordered' })
  expect(await refusalOf(cleanUp(turn))).toBe('recovery_not_available')
  expect(existsSync(path)).toBe(true)
  await client.call('tasks.cancel', { task_id: task.id })
  await job.running.eventually(
    () => workspace(job, task),
    (one) => one.status === 'cleanup_scheduled',
  )
  expect(await cleanUp(task)).toMatchObject({ status: 'cleaned', cleanup_at: null })
  expect(await cleanUp(task)).toMatchObject({ status: 'cleaned' })
  expect(existsSync(path)).toBe(false)
  expect(await keptOf(job, task)).toMatchObject([{ files: 1 }])
})
