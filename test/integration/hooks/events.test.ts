import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { LifecycleHooks } from '../../../src-shared/contract/lifecycle-hooks.ts'
import { startJob, type Job } from '../../helpers/job.ts'

/** Every event appends its name and its audience to one file outside the worktree. */
const witness = (file: string): OneHook => ({
  type: 'script',
  command: `echo "$SVC_EVENT $SVC_TASK_PREVIOUS_STATUS>$SVC_TASK_STATUS" >> '${file}'`,
})
type OneHook = { type: 'script'; command: string; blocking?: boolean; applies_to?: 'all' | 'agent_only' | 'user_only' }

async function setHooks(job: Job, lifecycle_hooks: Record<string, readonly object[]>) {
  await job.settings({ lifecycle_hooks: lifecycle_hooks as LifecycleHooks })
}

async function allEvents(job: Job) {
  const file = join(job.running.dataDir, 'witness.txt')
  const hook = witness(file)
  const names = ['before_work', 'on_work_start', 'on_work_stop', 'on_task_done', 'on_task_cancel']
  await setHooks(job, Object.fromEntries(names.map((name) => [name, [hook]])))
  return async () => (await readFile(file, 'utf8')).trim().split('\n')
}

const runsOf = async (job: Job, task_id: string) =>
  (await job.running.client.call('tasks.hook_runs', { task_id })).items

test('fires each event of a worked, reviewed and merged task once, in order', async () => {
  await using job = await startJob()
  const { client } = job.running
  const seen = await allEvents(job)
  const task = await job.task()
  await job.claim(task, await job.agent('echo work > work.txt'))
  await job.running.taskWhere(
    task.id,
    (one) => one.status === 'review' && one.review_passed_at !== null && !one.entry_barrier,
  )
  const { version } = await client.call('tasks.get', { task_id: task.id })
  await client.call('tasks.transition', { task_id: task.id, status: 'merging', version })
  await job.running.eventually(
    () => client.call('tasks.workspace', { task_id: task.id }),
    (workspace) => workspace.status === 'cleaned',
  )
  const lines = await seen()
  expect(lines.toSorted()).toEqual(
    [
      'before_work backlog>in_progress',
      'on_work_start backlog>in_progress',
      'on_work_stop in_progress>review',
      'on_task_done merging>done',
    ].toSorted(),
  )
  expect(lines.indexOf('on_work_stop in_progress>review')).toBe(2)
  const runs = await runsOf(job, task.id)
  expect(runs.map(({ event, status }) => `${event} ${status}`).toSorted()).toEqual([
    'before_work succeeded',
    'on_task_done succeeded',
    'on_work_start succeeded',
    'on_work_stop succeeded',
  ])
})

test('fires on_task_cancel and no on_work_stop for a task that is cancelled during work', async () => {
  await using job = await startJob()
  const { client } = job.running
  const seen = await allEvents(job)
  const task = await job.task()
  await job.claim(task, await job.agent('sleep 600'))
  await job.running.eventually(
    () => runsOf(job, task.id),
    (runs) => runs.filter(({ status }) => status === 'succeeded').length === 2,
  )
  await client.call('tasks.cancel', { task_id: task.id })
  await job.running.eventually(
    () => runsOf(job, task.id),
    (runs) => runs.some(({ event, status }) => event === 'on_task_cancel' && status === 'succeeded'),
  )
  expect((await seen()).toSorted()).toEqual([
    'before_work backlog>in_progress',
    'on_task_cancel in_progress>cancelled',
    'on_work_start backlog>in_progress',
  ])
})

test('fires on_work_stop for an agent that yields without leaving the state', async () => {
  await using job = await startJob()
  const seen = await allEvents(job)
  const task = await job.task()
  await job.claim(task, await job.agent('exit 3'))
  await job.running.eventually(
    () => runsOf(job, task.id),
    (runs) => runs.some(({ event, status }) => event === 'on_work_stop' && status === 'succeeded'),
  )
  expect(await seen()).toContain('on_work_stop in_progress>in_progress')
})

test('fires on_work_stop when a person moves the task into an idle state', async () => {
  await using job = await startJob({
    workflow: (standard) => ({
      ...standard,
      states: [
        ...standard.states.map((state) =>
          state.name === 'in_progress'
            ? { ...state, transitions: [...state.transitions, { to: 'parked', label: 'Park' }] }
            : state,
        ),
        {
          name: 'parked',
          kind: 'custom',
          column: 'Parked',
          label: 'Parked',
          transitions: [{ to: 'todo', label: 'Back' }],
        },
      ],
    }),
  })
  const { client } = job.running
  const seen = await allEvents(job)
  const task = await job.task()
  await client.call('tasks.claim', { task_id: task.id })
  const { version } = await job.running.taskWhere(task.id, (one) => !one.entry_barrier)
  await job.running.eventually(
    () => runsOf(job, task.id),
    (runs) => runs.some(({ event }) => event === 'on_work_start'),
  )
  await client.call('tasks.transition', { task_id: task.id, status: 'parked', version })
  await job.running.eventually(
    () => runsOf(job, task.id),
    (runs) => runs.some(({ event, status }) => event === 'on_work_stop' && status === 'succeeded'),
  )
  expect(await seen()).toContain('on_work_stop in_progress>parked')
})
