import { expect, test } from 'vitest'
import { sortTasks, nextSort, type SortFacts } from '../../../../src-renderer/features/board/sort-tasks.ts'
import {
  fits,
  isEmpty,
  parseFilter,
  toggled,
  type BoardFilter,
  type TaskFacts,
} from '../../../../src-renderer/model/board-filter.ts'
import { boardColumns, columnIn } from '../../../../src-renderer/model/workflow-shape.ts'
import { AgentId } from '../../../../src-shared/contract/ids.ts'
import type { Task } from '../../../../src-shared/contract/tasks.ts'
import { taskOf } from '../task-fixture.ts'
import { workflow } from '../workflow-fixture.ts'

const now = Date.parse('2026-11-21T10:00:00.000Z')
const agent = AgentId.parse('01990007-0000-7000-8000-000000000001')
const quiet: TaskFacts = { needsYou: false, running: false, blocked: false }
const passes = (task: Partial<Task>, filter: BoardFilter, facts: Partial<TaskFacts> = {}) =>
  fits(taskOf(1, task), filter, () => ({ ...quiet, ...facts }), now)

test('matches any value of one kind, and needs a match in each kind', () => {
  const task = { status: 'todo', labels: ['docs'], priority: 3 }
  expect(passes(task, {})).toBe(true)
  expect(passes(task, { state: ['todo', 'done'] })).toBe(true)
  expect(passes(task, { state: ['todo'], label: ['store'] })).toBe(false)
  expect(passes(task, { state: ['todo'], label: ['docs'], priority: ['3', '4'] })).toBe(true)
})

test('finds tasks by worker, state marks and time of change', () => {
  const held = { roles: { coder: { type: 'agent', id: agent } as const } }
  expect([passes(held, { assignee: [agent] }), passes(held, { assignee: ['nobody'] })]).toEqual([true, false])
  expect(passes({}, { assignee: ['nobody'] })).toBe(true)
  expect(passes({ external_issue_number: 4 }, { mark: ['external'] })).toBe(true)
  expect(passes({ entry_barrier: true }, { mark: ['held'] })).toBe(true)
  expect(passes({}, { mark: ['blocked'] }, { blocked: true })).toBe(true)
  expect(passes({}, { needs_you: ['yes'] })).toBe(false)
  expect(passes({}, { needs_you: ['yes'] }, { needsYou: true })).toBe(true)
  const old = { updated_at: '2026-11-15T09:00:00.000Z' }
  expect([passes(old, { updated: ['1'] }), passes(old, { updated: ['7'] })]).toEqual([false, true])
})

test('toggles a value, and allows one time', () => {
  const both = toggled(toggled({}, 'label', 'docs'), 'label', 'store')
  expect(both).toEqual({ label: ['docs', 'store'] })
  expect(isEmpty(toggled(toggled(both, 'label', 'docs'), 'label', 'store'))).toBe(true)
  expect(toggled({ updated: ['1'] }, 'updated', '7')).toEqual({ updated: ['7'] })
})

test('ignores invalid stored filters', () => {
  expect(parseFilter({ label: ['docs'], state: 'todo', priority: [1], other: ['x'] })).toEqual({ label: ['docs'] })
  expect(parseFilter('docs')).toEqual({})
})

const facts: SortFacts = { state: () => 0, project: () => '', who: (task) => task.title, now: () => 0 }
const sorted = (tasks: Task[], column: 'priority' | 'title' | 'added', descending = false) =>
  sortTasks(tasks, { column, descending }, facts).map(({ title }) => title)

test('sorts tasks by a column, and by the board where that is equal', () => {
  const tasks = [
    taskOf(1, { title: 'beta', priority: 1, position: 1 }),
    taskOf(2, { title: 'Alpha', priority: 4, position: 2 }),
    taskOf(3, { title: 'gamma', priority: 1, position: 3, diff_stat: { files: 1, additions: 0, deletions: 0 } }),
  ]
  expect(sorted(tasks, 'title')).toEqual(['Alpha', 'beta', 'gamma'])
  expect(sorted(tasks, 'priority', true)).toEqual(['Alpha', 'gamma', 'beta'])
  expect(sorted(tasks, 'added', true)).toEqual(['gamma', 'Alpha', 'beta'])
  expect(nextSort({ column: 'title', descending: false }, 'updated')).toEqual({ column: 'updated', descending: true })
  expect(nextSort({ column: 'title', descending: false }, 'title')).toEqual({ column: 'title', descending: true })
})

test('merges the columns of two projects by name, a foreign one after its neighbour', () => {
  const state = { ...workflow.states[2], name: 'test', column: 'Testing', label: 'Testing' }
  const other = { ...workflow, states: [...workflow.states.slice(0, 4), { ...workflow.states[3], ...state }] }
  const merged = boardColumns(
    new Map([
      ['one', workflow],
      ['two', other as typeof workflow],
    ]),
  )
  expect(merged.map(({ name }) => name)).toEqual([
    'Ideas',
    'Ready',
    'Making',
    'Testing',
    'Judging',
    'Landing',
    'Waiting',
    'Over',
  ])
  const testing = merged.find(({ name }) => name === 'Testing')
  expect(testing && [columnIn(testing, 'one').states.length, columnIn(testing, 'two').states[0]?.name]).toEqual([
    0,
    'test',
  ])
})
