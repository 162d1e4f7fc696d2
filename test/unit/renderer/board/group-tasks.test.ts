import { expect, test } from 'vitest'
import { groupTasks, matcher, maxFinishedShown } from '../../../../src-renderer/features/board/group-tasks.ts'
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

test('a task stands in the column of its state, the highest position first', () => {
  const tasks = [
    taskOf(1, { title: 'low', status: 'ready', position: 1 }),
    taskOf(2, { title: 'high', status: 'ready', position: 9 }),
    taskOf(3, { title: 'stuck', status: 'stuck', position: 5 }),
  ]
  expect(placed(...tasks)).toEqual({ Ready: ['high', 'low'], Making: ['stuck'] })
})

test('equal positions put the newer task first', () => {
  const tasks = [taskOf(1, { title: 'old', status: 'ready' }), taskOf(2, { title: 'new', status: 'ready' })]
  expect(placed(...tasks)).toEqual({ Ready: ['new', 'old'] })
})

test('what has ended stands by when it ended', () => {
  const tasks = [
    taskOf(1, { title: 'first', status: 'over', position: 9, updated_at: '2026-11-20T09:00:00.000Z' }),
    taskOf(2, { title: 'last', status: 'dropped', position: 1, updated_at: '2026-11-21T09:00:00.000Z' }),
  ]
  expect(placed(...tasks)).toEqual({ Over: ['last', 'first'] })
})

test('of what has ended the last fifty are shown, and all are counted', () => {
  const many = Array.from({ length: maxFinishedShown + 3 }, (_, index) =>
    taskOf(index, { status: 'over', updated_at: `2026-11-21T09:00:00.${String(index).padStart(3, '0')}Z` }),
  )
  const over = groupTasks(columns, many).find(({ name }) => name === 'Over')
  expect([over?.tasks.length, over?.cards.length, over?.cards[0]?.id]).toEqual([53, 50, taskOf(52).id])
})

test('a task whose state is gone is not lost: it stands in the first column', () => {
  expect(placed(taskOf(1, { title: 'stray', status: 'renamed' }))).toEqual({ Ideas: ['stray'] })
})

test('a search needs every word, in title, description, labels or short id', () => {
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
