import { expect, test } from 'vitest'
import {
  groupTasks,
  matcher,
  maxFinishedShown,
  placementOf,
} from '../../../../src-renderer/features/board/group-tasks.ts'
import { boardColumns } from '../../../../src-renderer/model/workflow-shape.ts'
import { taskOf } from '../task-fixture.ts'
import { workflow } from '../workflow-fixture.ts'

const columns = boardColumns(new Map([[taskOf(1).project_id, workflow]]))
const placed = (...tasks: ReturnType<typeof taskOf>[]) =>
  Object.fromEntries(
    groupTasks(columns, tasks)
      .filter((column) => column.tasks.length > 0)
      .map((column) => [column.name, column.tasks.map((task) => task.title)]),
  )

test('puts a task in the column of its state, highest position first', () => {
  const tasks = [
    taskOf(1, { title: 'low', status: 'ready', position: 1 }),
    taskOf(2, { title: 'high', status: 'ready', position: 9 }),
    taskOf(3, { title: 'stuck', status: 'stuck', position: 5 }),
  ]
  expect(placed(...tasks)).toEqual({ Ready: ['high', 'low'], Making: ['stuck'] })
})

test('puts the newer task first at equal positions', () => {
  const tasks = [taskOf(1, { title: 'old', status: 'ready' }), taskOf(2, { title: 'new', status: 'ready' })]
  expect(placed(...tasks)).toEqual({ Ready: ['new', 'old'] })
})

test('sorts finished tasks by their end', () => {
  const tasks = [
    taskOf(1, { title: 'first', status: 'over', position: 9, updated_at: '2026-11-20T09:00:00.000Z' }),
    taskOf(2, { title: 'last', status: 'dropped', position: 1, updated_at: '2026-11-21T09:00:00.000Z' }),
  ]
  expect(placed(...tasks)).toEqual({ Over: ['last', 'first'] })
})

test('shows the last fifty finished tasks and counts all', () => {
  const many = Array.from({ length: maxFinishedShown + 3 }, (_, index) =>
    taskOf(index, { status: 'over', updated_at: `2026-11-21T09:00:00.${String(index).padStart(3, '0')}Z` }),
  )
  const over = groupTasks(columns, many).find(({ name }) => name === 'Over')
  expect([over?.tasks.length, over?.cards.length, over?.cards[0]?.id]).toEqual([53, 50, taskOf(52).id])
})

test('puts a task whose state is gone in the first column', () => {
  expect(placed(taskOf(1, { title: 'stray', status: 'renamed' }))).toEqual({ Ideas: ['stray'] })
})

test('searches every word in title, description, labels and short ID', () => {
  const task = taskOf(12345678, { title: 'Retry with jitter', description: 'Honour Retry-After', labels: ['delivery'] })
  const fit = (query: string) => matcher(query)(task)
  expect(['  ', 'JITTER retry-after', 'jitter delivery', '12345678', 'jitter billing'].map(fit)).toEqual([
    true,
    true,
    true,
    true,
    false,
  ])
})

test('keeps the manual order among equals of a board by priority or update', () => {
  const tasks = [
    taskOf(1, { title: 'urgent', status: 'ready', position: 1, priority: 4 }),
    taskOf(2, { title: 'lower', status: 'ready', position: 2 }),
    taskOf(3, { title: 'higher', status: 'ready', position: 3, updated_at: '2026-11-21T10:00:00.000Z' }),
  ]
  const by = (order: 'manual' | 'priority' | 'updated') =>
    groupTasks(columns, tasks, [], order)
      .find(({ name }) => name === 'Ready')
      ?.cards.map(({ title }) => title)
  expect(by('manual')).toEqual(['higher', 'lower', 'urgent'])
  expect(by('priority')).toEqual(['urgent', 'higher', 'lower'])
  expect(by('updated')).toEqual(['higher', 'lower', 'urgent'])
})

test('places a card halfway between two, beyond the first or last, and nowhere at its own place', () => {
  const cards = [3, 2, 1].map((index) => taskOf(index, { status: 'ready', position: index }))
  const [top, middle, last] = cards.map(({ id }) => id)
  const put = (id = '', beside = '', edge: 'above' | 'below') => placementOf(cards, id, beside, edge)
  expect(put(last, top, 'above')).toEqual({ position: 4, above: top })
  expect(put(last, middle, 'above')).toEqual({ position: 2.5, above: middle })
  expect(put(top, middle, 'below')).toEqual({ position: 1.5, below: middle })
  expect(put(top, last, 'below')).toEqual({ position: 0, below: last })
  expect(put(top, middle, 'above')).toBeNull()
  expect(put(middle, top, 'below')).toBeNull()
  expect(put(middle, middle, 'below')).toBeNull()
})
