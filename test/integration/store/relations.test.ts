import { v7 } from 'uuid'
import { expect, test } from 'vitest'
import type { TaskId } from '../../../src-shared/contract/ids.ts'
import { executionRecord } from './execution-record.ts'
import { openStore } from './open-store.ts'
import { transitionRecord } from './transition-record.ts'

test('lists a task’s subtasks by position, archived ones too', async () => {
  await using open = await openStore()
  const parent = open.task()
  const mode = { parent_id: parent.id, subtask_mode: 'ordered' } as const
  const last = open.task({ ...mode, position: 9 })
  const first = open.task({ ...mode, position: -1, archived: true })
  const middle = open.task({ ...mode, position: 4 })
  open.task({ parent_id: last.id })
  expect(open.store.read.tasks.children(parent.id)).toEqual([first, middle, last])
  expect(open.store.read.tasks.children(first.id)).toEqual([])
})

test('turns the subtasks of a deleted task into tasks of their own, all or none', async () => {
  await using open = await openStore()
  const parent = open.task()
  const child = open.task({ parent_id: parent.id, subtask_mode: 'independent' })
  const other = open.task({ parent_id: child.id, subtask_mode: 'ordered' })
  const { read } = open.store
  expect(() =>
    open.store.write((q) => {
      q.tasks.delete(parent.id)
      throw new Error('no')
    }),
  ).toThrow('no')
  expect(read.tasks.children(parent.id)).toEqual([child])
  open.store.write((q) => q.tasks.delete(parent.id))
  expect(read.tasks.get(parent.id)).toBeNull()
  expect(read.tasks.get(child.id)).toEqual({ ...child, parent_id: null, subtask_mode: null })
  expect(read.tasks.get(other.id)).toEqual(other)
})

test('finds dependencies from both ends, once each, until they are removed', async () => {
  await using open = await openStore()
  const [a, b, c] = [open.task().id, open.task().id, open.task().id]
  const { read } = open.store
  open.store.write((q) => {
    q.dependencies.add(c, a)
    q.dependencies.add(c, b)
    q.dependencies.add(b, a)
    q.dependencies.add(c, a)
  })
  expect(read.dependencies.of(c)).toEqual([a, b])
  expect(read.dependencies.dependents(a)).toEqual([b, c])
  expect(read.dependencies.byProject(open.project_id)).toEqual([
    { task_id: b, depends_on_id: a },
    { task_id: c, depends_on_id: a },
    { task_id: c, depends_on_id: b },
  ])
  expect(read.dependencies.byProject(v7() as never)).toEqual([])
  open.store.write((q) => {
    q.dependencies.remove(c, a)
    q.dependencies.remove(a, c)
  })
  expect(read.dependencies.of(c)).toEqual([b])
  open.store.write((q) => q.tasks.delete(b))
  expect([read.dependencies.of(c), read.dependencies.dependents(a)]).toEqual([[], []])
  expect(() => open.store.write((q) => q.dependencies.add(a, v7() as TaskId))).toThrow('FOREIGN KEY')
})

test('takes the newest transition of the task as its last', async () => {
  await using open = await openStore()
  const task = open.task().id
  const other = open.task().id
  expect(open.store.read.transitions.last(task)).toBeNull()
  const records = [transitionRecord(task), transitionRecord(task, { to_state: 'done' }), transitionRecord(other)]
  open.store.write((q) => {
    for (const record of records.toReversed()) q.transitions.put(record)
  })
  expect(open.store.read.transitions.last(task)).toEqual(records[1])
  expect(open.store.read.transitions.byTask(task)).toEqual(records.slice(0, 2))
})

test('counts rejections by gate after a given action', async () => {
  await using open = await openStore()
  const task = open.task().id
  const before = v7()
  const rejections = [1, 2, 3].map(() => transitionRecord(task, { rejection: true }))
  open.store.write((q) => {
    for (const rejection of rejections) {
      q.transitions.put(rejection)
      q.transitions.put(transitionRecord(task, { rejection: false }))
    }
    q.transitions.put(transitionRecord(task, { rejection: true, from_state: 'planning' }))
    q.transitions.put(transitionRecord(open.task().id, { rejection: true }))
  })
  const { rejectionsByGate } = open.store.read.transitions
  const all = new Map([
    ['review', 3],
    ['planning', 1],
  ])
  expect(rejectionsByGate(task, null)).toEqual(all)
  expect(rejectionsByGate(task, before)).toEqual(all)
  // A person's own rejection is their last action, so it does not count.
  expect(rejectionsByGate(task, rejections[0]?.id ?? '')).toEqual(all.set('review', 2))
  expect(rejectionsByGate(task, rejections[2]?.id ?? '')).toEqual(new Map([['planning', 1]]))
  expect(rejectionsByGate(open.task().id, null)).toEqual(new Map())
})

test('lists a project’s pending effects in the order they were added', async () => {
  await using open = await openStore()
  const [a, b] = [open.task().id, open.task().id]
  const [first, second, third] = open.store.write((q) =>
    [b, a, b].map((id, index) => q.effects.add(id, { kind: 'enter', cursor: index } as never)),
  )
  expect(open.store.read.effects.ofProject(open.project_id)).toEqual([
    { id: first, task_id: b, data: { kind: 'enter', cursor: 0 } },
    { id: second, task_id: a, data: { kind: 'enter', cursor: 1 } },
    { id: third, task_id: b, data: { kind: 'enter', cursor: 2 } },
  ])
  expect(open.store.read.effects.ofProject(v7() as never)).toEqual([])
})

test('stores a person’s last action, an execution’s last message and a review’s commit', async () => {
  await using open = await openStore()
  const task = open.task({ last_human_action_id: v7() })
  const execution = { ...executionRecord(open, task.id, 'succeeded'), summary: 'All done' }
  const created_at = '2026-11-21T10:00:01.000Z'
  const verdict = { by: 'system', verdict: 'pass', feedback: null, head_commit: 'abc', created_at } as const
  const review = {
    id: v7() as never,
    task_id: task.id,
    status: 'passed',
    attempt_number: 1,
    ci_steps: [],
    step_results: [],
    verdicts: [verdict],
    head: 'abc',
    tree: null,
    changed_by_steps: [],
    notes: [],
    empty: false,
    ignored: [],
    config_changes: [],
    created_at,
    finished_at: null,
  } as const
  const lists = { ci_steps: [], step_results: [], changed_by_steps: [], notes: [], ignored: [], config_changes: [] }
  open.store.write((q) => {
    q.executions.put(execution)
    q.reviews.put({ ...review, verdicts: [...review.verdicts], ...lists })
  })
  const { read } = open.store
  expect(read.tasks.get(task.id)).toEqual(task)
  expect(read.executions.get(execution.id)).toEqual(execution)
  expect(read.reviews.latest(task.id)).toEqual(review)
})
