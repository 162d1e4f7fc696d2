import { expect, test } from 'vitest'
import { createTaskLoading } from '../../../../src-renderer/stores/tasks/task-loading.ts'
import { createTaskState } from '../../../../src-renderer/stores/tasks/task-state.ts'
import { createClient } from '../../../../src-shared/client/create-client.ts'
import type { Task } from '../../../../src-shared/contract/tasks.ts'
import { taskOf } from '../task-fixture.ts'

/** A load from a service that answers on demand. */
function setUp() {
  const asked: { readonly name: string; readonly answer: PromiseWithResolvers<unknown> }[] = []
  const state = createTaskState()
  const client = createClient({
    call: (name) => {
      const answer = Promise.withResolvers<unknown>()
      asked.push({ name, answer })
      return answer.promise
    },
    stream: () => {
      throw new Error('Nothing is streamed.')
    },
  })
  /** Answers the next request, asserts that it is this one, and runs the effects. */
  async function answer(name: string, output: unknown): Promise<void> {
    const next = asked.shift()
    expect(next?.name).toBe(name)
    next?.answer.resolve(output)
    await new Promise((resolve) => setImmediate(resolve))
  }
  const begin = (items: readonly Task[], todo: number) => answer('tasks.board', { items, counts: { todo } })
  const page = (items: readonly Task[], has_more = false) =>
    answer('tasks.list', { items, has_more, next_cursor: has_more ? 'next' : null })
  const fail = () => asked.shift()?.answer.reject(new TypeError('Failed to fetch'))
  return { state, begin, page, fail, loading: createTaskLoading(client, state) }
}

const [one, two] = [taskOf(1), taskOf(2)]
const shown = (state: ReturnType<typeof createTaskState>) => state.byProject(one.project_id).map((task) => task.id)

test('shows the first part of a board at once with the remaining count, and a small one whole', async () => {
  const { state, begin, page, loading } = setUp()
  const loaded = loading.load(one.project_id)
  expect(state.loadState(one.project_id)).toEqual({ kind: 'loading' })
  await begin([two], 3)
  expect(shown(state)).toEqual([two.id])
  expect(state.loadState(one.project_id)).toEqual({ kind: 'begun', rest: new Map([['todo', 2]]) })
  await page([one], true)
  await page([two])
  await loaded
  expect(state.loadState(one.project_id)).toEqual({ kind: 'ready' })
  expect(shown(state).toSorted()).toEqual([one.id, two.id].toSorted())
  const small = setUp()
  const smallLoaded = small.loading.load(one.project_id)
  await small.begin([one, two], 2)
  await smallLoaded
  expect(small.state.loadState(one.project_id)).toEqual({ kind: 'ready' })
  expect(shown(small.state)).toEqual([one.id, two.id])
})

test('does not undo events with an older page', async () => {
  const { state, begin, page, loading } = setUp()
  const loaded = loading.load(one.project_id)
  await begin([one], 2)
  const moved = { ...one, version: one.version + 1, status: 'done' }
  state.put(moved)
  await page([one], true)
  state.remove(two.id)
  await page([two])
  await loaded
  expect(state.byProject(one.project_id)).toEqual([moved])
})

test('does not bring back a deleted task', async () => {
  const { state, begin, loading } = setUp()
  const loaded = loading.load(one.project_id)
  state.put(one)
  state.remove(one.id)
  await begin([one, two], 2)
  await loaded
  expect(shown(state)).toEqual([two.id])
})

test('drops tasks that are no longer listed, and lets them come back', async () => {
  const { state, begin, loading } = setUp()
  state.put(one)
  state.put(two)
  const loaded = loading.load(one.project_id)
  await begin([two], 1)
  await loaded
  expect(shown(state)).toEqual([two.id])
  state.put(one)
  expect(shown(state)).toEqual([two.id, one.id])
})

test('keeps a task that moved from an unread page to a read one', async () => {
  const { state, begin, page, loading } = setUp()
  state.put(one)
  state.put(two)
  const loaded = loading.load(one.project_id)
  await begin([], 2)
  await page([one], true)
  state.put({ ...two, version: two.version + 1, position: 0 })
  await page([])
  await loaded
  expect(shown(state).toSorted()).toEqual([one.id, two.id].toSorted())
})

test('keeps a board that cannot be reloaded, and says why one could not be loaded', async () => {
  const { state, begin, fail, loading } = setUp()
  const first = loading.load(one.project_id)
  fail()
  await first
  expect(state.loadState(one.project_id)).toMatchObject({ kind: 'failed' })
  const second = loading.load(one.project_id)
  expect(state.loadState(one.project_id)).toEqual({ kind: 'loading' })
  await begin([one], 1)
  await second
  const third = loading.load(one.project_id)
  fail()
  await expect(third).rejects.toThrow('Failed to fetch')
  expect(state.loadState(one.project_id)).toEqual({ kind: 'ready' })
  expect(shown(state)).toEqual([one.id])
})
