import { defineStore } from 'pinia'
import { computed, ref, shallowReactive, shallowRef } from 'vue'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { EventPayload } from '../../../src-shared/contract/events.ts'
import { kindOf, type NotificationKind } from '../../../src-shared/contract/notification-types.ts'
import type { Notification } from '../../../src-shared/contract/notifications.ts'
import { oneAtATime } from '../../../src-shared/lang/one-at-a-time.ts'
import { useClient } from '../base/client.ts'
import { useSession } from '../base/session.ts'
import { createOptimisticChanges } from '../base/entity-store.ts'

/** Which notifications the inbox shows; null: of every project, of every kind. */
export interface InboxFilter {
  readonly project_id: string | null
  readonly kind: NotificationKind | null
  readonly unread: boolean
}

/** How long a deletion can be taken back, in milliseconds. */
export const undoTime = 5_000
const pageSize = 100

type Items = readonly Notification[]
type Change = (items: Items) => Items

/** The inbox as far as it has been scrolled through, and how many are not read. */
export const useNotifications = defineStore('notifications', () => {
  const client = useClient()
  const session = useSession()
  const filter = shallowRef<InboxFilter>({ project_id: null, kind: null, unread: false })
  const items = shallowRef<Items>([])
  const failure = shallowRef<unknown>(null)
  const loading = ref(false)
  const loaded = ref(false)
  /** Of how many tasks something is not read, as the service says; null while it has not said. */
  const count = ref<number | null>(null)
  const changes = createOptimisticChanges()
  const listeners = new Set<(item: Notification) => void>()
  /** Deleted by the person, but not yet by the service. */
  const leaving = shallowReactive(new Set<string>())
  let cursor: string | null = null
  let latest = 0
  /** What has happened since the page was asked for: its answer may be older. */
  let since: Change[] = []

  function change(step: Change): void {
    if (loading.value) since.push(step)
    items.value = step(items.value)
  }
  async function ask(after: string | null): Promise<void> {
    const attempt = ++latest
    const { project_id, kind, unread } = filter.value
    loading.value = true
    since = []
    try {
      // What was marked just now would come back as it was.
      await changes.settled()
      if (attempt !== latest) return
      const page = await client.call('notifications.list', {
        limit: pageSize,
        ...(project_id !== null && { project_id }),
        ...(kind !== null && { kind }),
        ...(unread && { read: false }),
        ...(after !== null && { cursor: after }),
      })
      if (attempt !== latest) return
      const known = after === null ? [] : items.value
      const ids = new Set(known.map((item) => item.id))
      const joined: Items = [...known, ...page.items.filter((item) => !ids.has(item.id) && !isOwn(item))]
      items.value = since.reduce((list, step) => step(list), joined)
      cursor = page.next_cursor
      loaded.value = true
      failure.value = null
    } catch (error) {
      if (attempt === latest) failure.value = error
    } finally {
      if (attempt === latest) loading.value = false
    }
  }
  const recount = oneAtATime(async () => {
    try {
      count.value = (await client.call('notifications.unread_count', {})).count
    } catch (error) {
      // A number that may be wrong is worse than none; the next connection asks again.
      if (!(error instanceof Error)) throw error
      count.value = null
    }
  })
  const setRead = (ids: ReadonlySet<string>, read: boolean): void =>
    change((list) => list.map((item) => (ids.has(item.id) && item.read !== read ? { ...item, read } : item)))
  const drop = (isGone: (item: Notification) => boolean): void => change((list) => list.filter((item) => !isGone(item)))

  function fits({ project_id, kind }: InboxFilter, item: Notification): boolean {
    return (
      (project_id === null || project_id === item.project_id) && (kind === null || kind === kindOf(item.event_type))
    )
  }
  /** A person's own acts are no news to them. */
  const isOwn = ({ caused_by }: Notification) => caused_by === `user:${session.me?.handle ?? 'local'}`
  function created(data: EventPayload<'notification.created'>): void {
    const { notification_id: id, occurred_at: created_at, ...rest } = data
    const item: Notification = { ...rest, id, created_at, read: false }
    if (isOwn(item)) return
    if (fits(filter.value, item)) change((list) => (list.some((known) => known.id === id) ? list : [item, ...list]))
    void recount()
    for (const listener of listeners) listener(item)
  }
  function marked({ project_id, notification_id, read }: EventPayload<'notification.read'>): void {
    const isMeant = (item: Notification) =>
      notification_id === null ? item.project_id === project_id : item.id === notification_id
    const isOld = notification_id !== null && changes.isOutdated(notification_id)
    if (!isOld) change((list) => list.map((item) => (isMeant(item) && item.read !== read ? { ...item, read } : item)))
    void recount()
  }
  function forget(isGone: (item: Notification) => boolean): void {
    drop(isGone)
    void recount()
  }
  /** What a row stands for: the newest of its task, and those before it. */
  const rowOf = (item: Notification) => items.value.filter(({ task_id }) => task_id === item.task_id)
  /** Reading the newest notification of a task reads them all; marking it unread marks it alone. */
  async function mark(item: Notification, read: boolean): Promise<void> {
    const all = read ? rowOf(item).filter((one) => !one.read) : [item]
    const ids = new Set(all.map(({ id }) => id as string))
    const name = read ? 'notifications.mark_read' : 'notifications.mark_unread'
    setRead(ids, read)
    try {
      for (const id of ids) await changes.send([id], () => client.call(name, { notification_id: id }))
    } catch (error) {
      setRead(ids, !read)
      throw error
    }
  }
  async function erase(id: string): Promise<void> {
    try {
      await client.call('notifications.delete', { notification_id: id })
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'not_found') throw error
    } finally {
      leaving.delete(id)
    }
    drop((item) => item.id === id)
  }
  return {
    filter: computed(() => filter.value),
    /** One a task: the newest says how it stands. */
    items: computed(() => newestOfTasks(items.value.filter((item) => !leaving.has(item.id)))),
    failure: computed(() => failure.value),
    loading: computed(() => loading.value),
    loaded: computed(() => loaded.value),
    /** Not read, of all projects; null while that is not known. */
    unread: computed(() => {
      const going = new Set(items.value.flatMap((item) => (leaving.has(item.id) && !item.read ? [item.task_id] : [])))
        .size
      return count.value === null ? null : Math.max(0, count.value - going)
    }),
    /** The first page of what the filter lets through. */
    load: (): Promise<void> => ask(null),
    /** The next page, if there is one. */
    more: async (): Promise<void> => {
      if (!loading.value && cursor !== null && failure.value === null) await ask(cursor)
    },
    /** Shows others; what was there goes at once. */
    show: async (next: Partial<InboxFilter>): Promise<void> => {
      filter.value = { ...filter.value, ...next }
      items.value = []
      loaded.value = false
      cursor = null
      await ask(null)
    },
    /** After a gap in the events. A list that nobody has looked at stays unasked for. */
    reload: async (): Promise<void> => {
      changes.forget()
      await Promise.all([recount(), ...(loaded.value ? [ask(null)] : [])])
    },
    created,
    /** Calls back with each new one until the returned function is called. */
    onCreated: (listener: (item: Notification) => void): (() => void) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    marked,
    deleted: (id: string): void => forget((item) => item.id === id),
    forgetTask: (taskId: string): void => forget((item) => item.task_id === taskId),
    forgetProject: (projectId: string): void => forget((item) => item.project_id === projectId),
    mark,
    /** All that there are, or those of the project that is shown; also what has not been loaded. */
    markAllRead: async (): Promise<void> => {
      const { project_id } = filter.value
      await client.call('notifications.mark_all_read', project_id === null ? {} : { project_id })
    },
    /** Hides it at once, and deletes it when the time to take that back is up. Answers how to take it back. */
    remove: (id: string, onFailure: (error: unknown) => void): (() => void) => {
      const item = items.value.find((one) => one.id === id)
      const ids = item ? rowOf(item).map((one) => one.id as string) : [id]
      for (const each of ids) leaving.add(each)
      const timer = setTimeout(() => void Promise.all(ids.map(erase)).catch(onFailure), undoTime)
      return () => {
        clearTimeout(timer)
        for (const each of ids) leaving.delete(each)
      }
    },
  }
})

function newestOfTasks(items: Items): Items {
  const seen = new Set<string>()
  return items.filter(({ task_id }) => !seen.has(task_id) && seen.add(task_id))
}
