import { expect, test } from 'vitest'
import { createTaskLoading } from '../../../../src-renderer/stores/task-loading.ts'
import { createTaskState } from '../../../../src-renderer/stores/task-state.ts'
import { createClient } from '../../../../src-shared/client/create-client.ts'
import type { Task } from '../../../../src-shared/contract/tasks.ts'
import { taskOf } from '../task-fixture.ts'

/** A state that is being loaded from a service whose pages come when the test says so. */
function setUp() {
  const pages: PromiseWithResolvers<unknown>[] = []
  const state = createTaskState()
  const client = createClient({
    call: () => {
      const page = Promise.withResolvers<unknown>()
      pages.push(page)
      return page.promise
    },
    stream: () => {
      throw new Error('Nothing is streamed.')
    },
  })
  const answer = (items: readonly Task[], has_more = false) =>
    pages.shift()?.resolve({ items, has_more, next_cursor: has_more ? 'next' : null })
  const fail = () => pages.shift()?.reject(new TypeError('Failed to fetch'))
  return { state, answer, fail, asked: () => pages.length, loading: createTaskLoading(client, state) }
}

const [one, two] = [taskOf(1), taskOf(2)]
const shown = (state: ReturnType<typeof createTaskState>) => state.byProject(one.project_id).map((task) => task.id)

test('a task that was deleted while its page was on its way does not come back', async () => {
  const { state, answer, loading } = setUp()
  const loaded = loading.load(one.project_id)
  state.put(one)
  state.remove(one.id)
  answer([one, two])
  await loaded
  expect(shown(state)).toEqual([two.id])
})

test('what is listed no more is forgotten, and may come back', async () => {
  const { state, answer, loading } = setUp()
  state.put(one)
  state.put(two)
  const loaded = loading.load(one.project_id)
  answer([two])
  await loaded
  expect(shown(state)).toEqual([two.id])
  state.put(one)
  expect(shown(state)).toEqual([two.id, one.id])
})

test('a task that moved from a page to come to one that was read stays', async () => {
  const { state, answer, loading } = setUp()
  state.put(one)
  state.put(two)
  const loaded = loading.load(one.project_id)
  answer([one], true)
  state.put({ ...two, version: two.version + 1, position: 0 })
  await Promise.resolve()
  await new Promise((resolve) => setImmediate(resolve))
  answer([])
  await loaded
  expect(shown(state).toSorted()).toEqual([one.id, two.id].toSorted())
})

test('who asks while tasks are being loaded shares that, unless events were missed since', async () => {
  const { state, answer, asked, loading } = setUp()
  const first = loading.load(one.project_id)
  const second = loading.load(one.project_id)
  expect(asked()).toBe(1)
  loading.loadAnew()
  const third = loading.load(one.project_id)
  expect(asked()).toBe(2)
  answer([one])
  await Promise.all([first, second])
  const fourth = loading.load(one.project_id)
  expect(asked()).toBe(1)
  answer([one, two])
  await Promise.all([third, fourth])
  expect(shown(state)).toEqual([one.id, two.id])
  const fifth = loading.load(one.project_id)
  expect(asked()).toBe(1)
  answer([two])
  await fifth
  expect(shown(state)).toEqual([two.id])
})

test('a board that cannot be loaded again stays as it was; one that was never there says why', async () => {
  const { state, answer, fail, loading } = setUp()
  const first = loading.load(one.project_id)
  fail()
  await first
  expect(state.loadState(one.project_id)).toMatchObject({ kind: 'failed' })
  const second = loading.load(one.project_id)
  answer([one])
  await second
  const third = loading.load(one.project_id)
  fail()
  await expect(third).rejects.toThrow('Failed to fetch')
  expect(state.loadState(one.project_id)).toEqual({ kind: 'ready' })
  expect(shown(state)).toEqual([one.id])
})
