import { expect, test } from 'vitest'
import type { EnterEffect } from '../../../src-main/domain/transition/effects.ts'
import type { HookOutcome } from '../../../src-shared/contract/tasks.ts'
import { executionRecord } from './execution-record.ts'
import { openStore } from './open-store.ts'
import { explain, preparedOnce } from './query-plans.ts'
import { transitionRecord } from './transition-record.ts'

const effect: EnterEffect = {
  kind: 'enter',
  transition_id: 'a transition' as never,
  from: 'todo',
  to: 'in_progress',
  triggered_by: 'system',
  cursor: 0,
  depth: 0,
  cascade_skipped: false,
}

test('returns the oldest effect of a task as last written, until it is removed', async () => {
  await using open = await openStore()
  const [task, other] = [open.task().id, open.task().id]
  const [first, second, third] = open.store.write((q) => [
    q.effects.add(task, effect),
    q.effects.add(other, { ...effect, to: 'review' }),
    q.effects.add(task, { ...effect, to: 'done' }),
  ]) as [number, number, number]
  const { effects } = open.store.read
  expect(effects.first(task)).toEqual({ id: first, task_id: task, data: effect })
  const later = { ...effect, cursor: 2, blocked: true, process_marker: 'a marker' }
  open.store.write((q) => q.effects.update(first, later))
  expect(effects.first(task)).toEqual({ id: first, task_id: task, data: later })
  expect(effects.ofProject(open.project_id).map((one) => one.id)).toEqual([first, second, third])
  open.store.write((q) => q.effects.remove(first))
  expect(effects.first(task)).toMatchObject({ id: third, data: { to: 'done' } })
  open.store.write((q) => q.effects.removeOfTask(task))
  expect(effects.first(task)).toBeNull()
  expect(effects.pendingTasks()).toEqual([other])
})

test('numbers events in their order, with or without a project', async () => {
  await using open = await openStore()
  const appended = open.store.write((q) => [
    q.events.append('task.deleted', open.project_id, { task_id: 'a "task"' }),
    q.events.append('task.deleted', null, { task_id: 'another' }),
  ])
  expect(appended.map((event) => event.seq)).toEqual([1, 2])
  expect(open.store.read.events.after(0, 10)).toEqual(appended)
})

test('stores an event without the task’s description, and resumes with the current one', async () => {
  await using open = await openStore()
  const task = { ...open.task(), description: 'As it was.' }
  open.store.write((q) => {
    q.tasks.put({ ...task, description: 'As it is.' })
    q.events.append('task.updated', open.project_id, { task_id: task.id, task })
  })
  const replayed = () => open.store.read.events.after(0, 10).map(({ data }) => data)
  expect(replayed()).toEqual([{ task_id: task.id, task: { ...task, description: 'As it is.' } }])
  open.store.write((q) => q.tasks.delete(task.id))
  expect(replayed()).toEqual([{ task_id: task.id, task: { ...task, description: null } }])
})

test('keeps hook outcomes per transition, and replaces them whole', async () => {
  await using open = await openStore()
  const { id: task_id } = open.task()
  const [one, other] = [transitionRecord(task_id), transitionRecord(task_id)]
  const hook: HookOutcome = { phase: 'on_enter', action: 'script', outcome: 'failed', reason: "it's", duration_ms: 3 }
  open.store.write((q) => {
    q.transitions.put(one)
    q.transitions.put(other)
    q.transitions.setHooks(one.id, [hook, hook])
    q.transitions.setHooks(one.id, [hook])
  })
  expect(open.store.read.transitions.byTask(task_id)).toEqual([{ ...one, hooks: [hook] }, other])
})

test('lists queued and running executions as open, oldest first, per project or all', async () => {
  await using open = await openStore()
  const { id: task_id } = open.task()
  const records = (['queued', 'succeeded', 'running', 'failed', 'cancelled', 'queued'] as const).map((status) =>
    executionRecord(open, task_id, status),
  )
  const elsewhere = { ...executionRecord(open, task_id, 'running'), project_id: 'another' as never }
  open.store.write((q) => {
    for (const record of [...records.toReversed(), elsewhere]) q.executions.put(record)
  })
  const expected = records.filter((one) => one.status === 'queued' || one.status === 'running')
  expect(open.store.read.executions.open(open.project_id)).toEqual(expected)
  expect(open.store.read.executions.open()).toEqual([...expected, elsewhere])
})

test('takes the last attempt as latest review, whichever was written last', async () => {
  await using open = await openStore()
  const [task, other] = [open.task().id, open.task().id]
  const review = (task_id: typeof task, attempt_number: number) => ({
    id: `${task_id} ${attempt_number}` as never,
    task_id,
    status: 'running' as const,
    attempt_number,
    ci_steps: ['npm test'],
    step_results: [],
    verdicts: [],
    head: null,
    tree: null,
    changed_by_steps: [],
    notes: [],
    empty: false,
    ignored: [],
    config_changes: [],
    created_at: '2026-11-21T09:30:00.000Z',
    finished_at: null,
  })
  open.store.write((q) => {
    for (const attempt of [2, 10, 1]) q.reviews.put(review(task, attempt))
    q.reviews.put(review(other, 11))
  })
  const { reviews } = open.store.read
  expect(reviews.latest(task)).toEqual(review(task, 10))
  expect(reviews.byTask(task).map((one) => one.attempt_number)).toEqual([10, 2, 1])
  expect(reviews.get(review(task, 2).id)).toEqual(review(task, 2))
  expect(reviews.latest(open.task().id)).toBeNull()
})

test('prepares every query of a transition once and reads from an index', async () => {
  await using open = await openStore()
  const plans = explain(open.file, preparedOnce(open))
  const planOf = (sql: RegExp) => plans.filter(([text]) => sql.test(text)).map(([, plan]) => plan)
  const questions: [sql: RegExp, index: string][] = [
    [/FROM "effects" WHERE task_id = \?/, 'effects_by_task (task_id=?)'],
    [/FROM "executions" WHERE status IN .*project_id = \?/, 'executions_open'],
    [/FROM "executions" WHERE status IN [^=]*$/, 'executions_open'],
    [/FROM "reviews" WHERE task_id = \? ORDER BY attempt_number DESC LIMIT 1/, 'reviews_by_task (task_id=?)'],
    [/FROM "workspaces" WHERE "task_id" = \?/, 'workspaces_by_task (task_id=?)'],
  ]
  for (const [sql, index] of questions) {
    const found = planOf(sql)
    expect(found, String(sql)).toEqual([expect.stringContaining(index)])
    expect(found.join('\n'), String(sql)).not.toContain('TEMP B-TREE')
  }
})
