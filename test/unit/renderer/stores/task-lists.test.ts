import { expect, test } from 'vitest'
import { useExecutions } from '../../../../src-renderer/stores/runs/executions.ts'
import { useReviews } from '../../../../src-renderer/stores/review/reviews.ts'
import { onService } from '../renderer-app.ts'

const task = 't1'

interface TaskList {
  byTask(taskId: string): readonly { readonly id: string; readonly status: string }[]
  isKnown(taskId: string): boolean
  put(item: never): void
  load(taskId: string): Promise<void>
  removeTask(taskId: string): void
}
const lists: readonly (readonly [string, () => TaskList])[] = [
  ['reviews', useReviews],
  ['executions', useExecutions],
]

/** A store of a task's records, on a service that answers on demand. */
function asked(use: () => TaskList) {
  const { promise, resolve } = Promise.withResolvers<unknown>()
  const store = onService(() => promise, use)
  const put = (item: object) => store.put(item as never)
  const shown = () => store.byTask(task).map(({ id, status }) => `${id} ${status}`)
  return { store, put, shown, answer: (items: readonly object[]) => resolve({ items }) }
}
const item = (id: string, status: string) => ({ id, task_id: task, status, created_at: id, finished_at: null })

test.each(lists)('prefers an event about %s to a list requested before it', async (_name, use) => {
  const { store, put, shown, answer } = asked(use)
  put(item('1', 'running'))
  const loading = store.load(task)
  put(item('1', 'cancelled'))
  put(item('2', 'cancelled'))
  answer([item('1', 'running'), item('2', 'running'), item('3', 'running')])
  await loading
  expect(shown().toSorted()).toEqual(['1 cancelled', '2 cancelled', '3 running'])
})

test.each(lists)('knows that a task has no more %s once their list is loaded', async (_name, use) => {
  const { store, put, answer } = asked(use)
  const loading = store.load(task)
  put(item('1', 'running'))
  expect(store.isKnown(task)).toBe(false)
  answer([])
  await loading
  expect(store.isKnown(task)).toBe(true)
  store.removeTask(task)
  expect(store.isKnown(task)).toBe(false)
})
