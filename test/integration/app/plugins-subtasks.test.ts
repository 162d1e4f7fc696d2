import { expect, test } from 'vitest'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { createProcessBeacon, wait } from '../../helpers/process-beacon.ts'
import { refusalOf } from '../../helpers/refusal.ts'
import { smallWorkflow } from '../../helpers/small-workflow.ts'
import { lastHook, timeline } from '../../helpers/timeline.ts'

const move = (job: Job, { id, version }: Task, status: string) =>
  job.running.client.call('tasks.transition', { task_id: id, status, version })
const statusOf = async (job: Job, { id }: Task) => (await job.running.client.call('tasks.get', { task_id: id })).status
/** Who moved a task last, and why. */
const lastMove = async (job: Job, { id }: Task) => {
  const entry = (await job.transitions(id)).at(-1)
  return [`${entry?.from_state ?? ''} > ${entry?.to_state ?? ''}`, entry?.triggered_by, entry?.trigger_reason]
}

test.concurrent('cancel_pending_subtasks cancels unfinished subtasks and ends their runs', async () => {
  await using beacon = await createProcessBeacon()
  const plugin = 'cancel_pending_subtasks'
  await using job = await startJob({
    workflow: smallWorkflow({ cancelled: { on_enter: [{ plugin }], after_enter: [{ plugin }, lastHook] } }),
  })
  const parent = await job.task({ title: 'Parent' })
  const working = await job.task({ title: 'Working', parent_id: parent.id })
  const waiting = await job.task({ title: 'Waiting', parent_id: parent.id, subtask_mode: 'ordered' })
  const below = await job.task({ title: 'Below', parent_id: waiting.id })
  const finished = await job.task({ title: 'Finished', parent_id: parent.id })
  const bystander = await job.task({ title: 'Bystander' })
  await move(job, finished, 'done')
  await job.claim(working, await job.agent(beacon.hold('agent', wait)))
  await beacon.alive('agent')
  await job.running.client.call('tasks.cancel', { task_id: parent.id })
  await beacon.gone('agent')
  // The second run finds nothing to do.
  expect(await timeline(job, parent.id, 'cancelled')).toEqual([
    'on_enter cancel_pending_subtasks ok 2 of 3 subtasks moved',
    'after_enter cancel_pending_subtasks skipped not_needed',
  ])
  await job.running.taskWhere(below.id, (one) => one.status === 'cancelled')
  expect(await statusOf(job, finished)).toBe('done')
  expect(await statusOf(job, bystander)).toBe('todo')
  const who = (await job.transitions(parent.id)).at(-1)?.triggered_by
  expect(who).toMatch(/^user:/)
  expect(await lastMove(job, working)).toEqual(['working > cancelled', who, 'Its parent went to Cancelled.'])
  expect(await lastMove(job, below)).toEqual(['todo > cancelled', who, 'Its parent went to Cancelled.'])
  const [execution] = await job.executions(working.id)
  expect(execution?.status).toBe('cancelled')
  expect(await job.running.client.call('tasks.get', { task_id: working.id })).toMatchObject({
    active_execution_id: null,
  })
})

test.concurrent('propagate_done_to_subtasks finishes ordered subtasks only', async () => {
  const plugin = 'propagate_done_to_subtasks'
  await using job = await startJob({
    workflow: smallWorkflow({ done: { on_enter: [{ plugin }], after_enter: [{ plugin }, lastHook] } }),
  })
  const parent = await job.task({ title: 'Parent' })
  const ordered = await job.task({ title: 'Ordered', parent_id: parent.id, subtask_mode: 'ordered' })
  const deeper = await job.task({ title: 'Deeper', parent_id: ordered.id, subtask_mode: 'ordered' })
  const cancelled = await job.task({ title: 'Cancelled', parent_id: parent.id, subtask_mode: 'ordered' })
  const independent = await job.task({ title: 'Independent', parent_id: parent.id, subtask_mode: 'independent' })
  await job.running.client.call('tasks.cancel', { task_id: cancelled.id })
  await move(job, parent, 'done')
  expect(await timeline(job, parent.id, 'done')).toEqual([
    'on_enter propagate_done_to_subtasks ok 1 of 2 subtasks moved',
    'after_enter propagate_done_to_subtasks skipped not_needed',
  ])
  await job.running.taskWhere(deeper.id, (one) => one.status === 'done')
  const who = (await job.transitions(parent.id)).at(-1)?.triggered_by
  expect(await lastMove(job, ordered)).toEqual(['todo > done', who, 'Its parent went to Done.'])
  expect(await statusOf(job, cancelled)).toBe('cancelled')
  expect(await statusOf(job, independent)).toBe('todo')
})

test.concurrent('satisfy_dependents notifies dependents that their gate may be open', async () => {
  const plugin = 'satisfy_dependents'
  await using job = await startJob({
    workflow: smallWorkflow({
      done: { on_enter: [{ plugin }], after_enter: [lastHook] },
      cancelled: { on_enter: [{ plugin }], after_enter: [lastHook] },
    }),
  })
  const { client } = job.running
  const [first, second, free, stuck, over] = await Promise.all(
    ['First', 'Second', 'Free', 'Stuck', 'Over'].map((title) => job.task({ title })),
  )
  if (!first || !second || !free || !stuck || !over) throw new Error('A task is missing.')
  for (const [task, other] of [
    [free, first],
    [stuck, first],
    [stuck, second],
    [over, first],
  ] as const) {
    await client.call('tasks.add_dependency', { task_id: task.id, depends_on_id: other.id })
  }
  await client.call('tasks.cancel', { task_id: over.id })
  const agent = await job.agent('echo done')
  expect(await refusalOf(job.claim(free, agent))).toBe('dependency_gate')
  const told = new Set<string>()
  const listening = (async () => {
    const stop = AbortSignal.timeout(30_000)
    for await (const item of client.events({}, null, stop)) {
      if (item.kind !== 'event') continue
      if (item.event.type === 'task.updated') told.add(item.event.data.task_id)
      if (item.event.type === 'transition.effect_failed') return
    }
  })()
  await move(job, first, 'done')
  await listening
  expect(await timeline(job, first.id, 'done')).toEqual([
    'on_enter satisfy_dependents ok 1 of 2 waiting tasks can be claimed now',
  ])
  expect(told).toEqual(new Set([free.id, stuck.id]))
  expect((await job.claim(free, agent)).execution.status).toBe('queued')
  expect(await refusalOf(job.claim(stuck, agent))).toBe('dependency_gate')
  // A cancelled task is not done, so it satisfies no one.
  await client.call('tasks.cancel', { task_id: second.id })
  expect(await timeline(job, second.id, 'cancelled')).toEqual([
    'on_enter satisfy_dependents ok 0 of 1 waiting tasks can be claimed now',
  ])
  const alone = await job.task({ title: 'Alone' })
  await move(job, alone, 'done')
  expect(await timeline(job, alone.id, 'done')).toEqual(['on_enter satisfy_dependents skipped not_needed'])
})
