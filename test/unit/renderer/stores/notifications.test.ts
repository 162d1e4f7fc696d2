import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { undoMs, useNotifications } from '../../../../src-renderer/stores/people/notifications.ts'
import { ApiError } from '../../../../src-shared/contract/errors.ts'
import { NotificationId } from '../../../../src-shared/contract/ids.ts'
import type { Notification } from '../../../../src-shared/contract/notifications.ts'
import { taskOf } from '../task-fixture.ts'
import { onService, type Reply } from '../renderer-app.ts'

const at = '2026-11-21T09:30:00.000Z'
const { project_id } = taskOf(1)

function notice(number: number, more: Partial<Notification> = {}): Notification {
  const id = NotificationId.parse(`01990009-0000-7000-8000-${String(number).padStart(12, '0')}`)
  return {
    id,
    event_type: 'task.done',
    title: 'T',
    body: null,
    project_id,
    // Each has a task of its own, because the inbox shows only a task's newest.
    task_id: taskOf(number).id,
    read: false,
    created_at: at,
    ...more,
  }
}
const eventOf = ({ id, event_type, title, body, task_id }: Notification) => ({
  notification_id: id,
  project_id,
  task_id,
  event_type,
  title,
  body,
  occurred_at: at,
})

function storeWith(reply: Reply) {
  const calls: [string, unknown][] = []
  const noted: Reply = (name, input) => {
    if (name !== 'notifications.unread_count') calls.push([name, input])
    return reply(name, input)
  }
  return { store: onService(noted, useNotifications), calls }
}
const pageOf = (items: readonly Notification[], next_cursor: string | null = null) => ({
  items,
  has_more: next_cursor !== null,
  next_cursor,
})
const answering =
  (items: readonly Notification[], count = items.length): Reply =>
  (name) =>
    name === 'notifications.list' ? pageOf(items) : name === 'notifications.unread_count' ? { count } : null
const shown = (store: ReturnType<typeof useNotifications>) => store.items.map(({ id, read }) => [id, read])

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('keeps what happened while a page was loading', async () => {
  const [old, gone, fresh] = [notice(1), notice(2), notice(3)]
  const { promise, resolve } = Promise.withResolvers()
  const { store } = storeWith((name) => (name === 'notifications.list' ? promise : { count: 0 }))
  const loading = store.load()
  store.created(eventOf(fresh))
  store.deleted(gone.id)
  store.marked({ project_id, user_id: null, notification_id: old.id, read: true, occurred_at: at })
  resolve(pageOf([gone, old]))
  await loading
  expect(shown(store)).toEqual([
    [fresh.id, false],
    [old.id, true],
  ])
})

test('shows an announced notification once', async () => {
  const { store } = storeWith(answering([notice(1)]))
  await store.load()
  store.created(eventOf(notice(1)))
  expect(shown(store)).toEqual([[notice(1).id, false]])
})

test('filters at the service, and skips announced ones that don’t match', async () => {
  const { store, calls } = storeWith(answering([]))
  await store.show({ kind: 'failed', unread: true, project_id })
  const wanted = { limit: 100, project_id, kind: 'failed', read: false, newest: true }
  expect(calls.at(-1)).toEqual(['notifications.list', wanted])
  store.created(eventOf(notice(1)))
  store.created(eventOf(notice(2, { event_type: 'merge.failed' })))
  expect(shown(store)).toEqual([[notice(2).id, false]])
  await store.show({ project_id: '01990002-0000-7000-8000-00000000ffff' })
  store.created(eventOf(notice(3, { event_type: 'merge.failed' })))
  expect(shown(store)).toEqual([])
})

test('appends further pages and stops after the last', async () => {
  const pages = new Map([
    [undefined, pageOf([notice(3), notice(2)], 'c')],
    ['c', pageOf([notice(2), notice(1)])],
  ])
  const { store, calls } = storeWith((_, { cursor }) => pages.get(cursor as string | undefined))
  await store.load()
  await store.more()
  await store.more()
  expect(store.items.map((item) => item.id)).toEqual([notice(3), notice(2), notice(1)].map((item) => item.id))
  expect(calls).toHaveLength(2)
})

test('undoes a mark that the service refuses', async () => {
  const { store } = storeWith((name) => {
    if (name === 'notifications.list') return pageOf([notice(1)])
    throw new ApiError({ code: 'internal_error', message: 'Broken.' })
  })
  await store.load()
  const marking = store.mark(notice(1), true)
  expect(shown(store)).toEqual([[notice(1).id, true]])
  await expect(marking).rejects.toThrow('Broken.')
  expect(shown(store)).toEqual([[notice(1).id, false]])
})

test('hides a deleted one at once, offers undo, and deletes it when the time is up', async () => {
  const failed = vi.fn()
  const { store, calls } = storeWith(answering([notice(1), notice(2)]))
  await store.load()
  await store.reload()
  const undo = store.remove(notice(1).id, failed)
  expect([shown(store), store.unread]).toEqual([[[notice(2).id, false]], 1])
  undo()
  await vi.advanceTimersByTimeAsync(undoMs)
  expect(store.items).toHaveLength(2)
  store.remove(notice(2).id, failed)
  await vi.advanceTimersByTimeAsync(undoMs)
  expect(shown(store)).toEqual([[notice(1).id, false]])
  expect(calls.filter(([name]) => name === 'notifications.delete')).toEqual([
    ['notifications.delete', { notification_id: notice(2).id }],
  ])
  expect(failed).not.toHaveBeenCalled()
})

test('restores one whose deletion is refused, unless it is already gone', async () => {
  const failed = vi.fn()
  let code: 'not_found' | 'internal_error' = 'internal_error'
  const { store } = storeWith((name) => {
    if (name === 'notifications.list') return pageOf([notice(1)])
    throw new ApiError({ code, message: 'No.' })
  })
  await store.load()
  store.remove(notice(1).id, failed)
  await vi.advanceTimersByTimeAsync(undoMs)
  expect([shown(store).length, failed.mock.calls.length]).toEqual([1, 1])
  code = 'not_found'
  store.remove(notice(1).id, failed)
  await vi.advanceTimersByTimeAsync(undoMs)
  expect([shown(store).length, failed.mock.calls.length]).toEqual([0, 1])
})

test('removes notifications with their task or project', async () => {
  const { store } = storeWith(answering([notice(1)]))
  await store.load()
  store.forgetTask('another')
  expect(store.items).toHaveLength(1)
  store.forgetTask(taskOf(1).id)
  expect(store.items).toHaveLength(0)
  await store.load()
  store.forgetProject(project_id)
  expect(store.items).toHaveLength(0)
})

test('shows an unknown count when it could not be loaded', async () => {
  let answer: () => unknown = () => ({ count: 3 })
  const { store } = storeWith(() => answer())
  await store.reload()
  expect(store.unread).toBe(3)
  answer = () => {
    throw new ApiError({ code: 'internal_error', message: 'Broken.' })
  }
  await store.reload()
  expect(store.unread).toBeNull()
})

test('keeps the last mark of quick changes, whatever events repeat', async () => {
  const item = notice(1)
  const { store } = storeWith(answering([item]))
  await store.load()
  const told = (read: boolean) =>
    store.marked({ project_id, user_id: null, notification_id: item.id, read, occurred_at: at })
  const marking = [store.mark(item, true), store.mark({ ...item, read: true }, false)]
  told(true)
  expect(shown(store)).toEqual([[item.id, false]])
  await Promise.all(marking)
  told(false)
  told(true)
  expect(shown(store)).toEqual([[item.id, true]])
  // After a reload no event of the change is expected.
  await store.mark({ ...item, read: true }, false)
  await store.reload()
  await store.mark(item, true)
  told(false)
  expect(shown(store)).toEqual([[item.id, false]])
})

test('sends marks before it loads more', async () => {
  const read = new Set<string>()
  const marking = Promise.withResolvers<null>()
  const { store } = storeWith((name, input) => {
    if (name === 'notifications.list') return pageOf(read.has(notice(1).id) ? [] : [notice(1)])
    if (name === 'notifications.mark_read') {
      return marking.promise.then(() => void read.add((input as { notification_id: string }).notification_id))
    }
    return { count: 0 }
  })
  await store.load()
  const marked = store.mark(notice(1), true)
  const filtered = store.show({ unread: true })
  marking.resolve(null)
  await Promise.all([marked, filtered])
  expect(shown(store)).toEqual([])
})

test('reads all notifications of a task with the newest', async () => {
  const newest = notice(3, { event_type: 'task.done' })
  const before = notice(2, { task_id: newest.task_id, event_type: 'review.passed' })
  const other = notice(1)
  const { store, calls } = storeWith(answering([newest, before, other], 2))
  await store.load()
  expect(shown(store).map(([id]) => id)).toEqual([newest.id, other.id])
  await store.mark(newest, true)
  expect(calls.slice(1)).toEqual([
    ['notifications.mark_read', { notification_id: newest.id }],
    ['notifications.mark_read', { notification_id: before.id }],
  ])
  // A person's own action is no news to them, and ends the task's row.
  const heard = vi.fn()
  store.onCreated(heard)
  store.created({ ...eventOf(notice(4, { task_id: other.task_id })), caused_by: 'user:local' })
  expect(shown(store).map(([id]) => id)).toEqual([newest.id])
  expect(heard).not.toHaveBeenCalled()
})
