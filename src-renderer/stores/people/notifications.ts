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

/** The filter of the inbox; null stands for every project or every kind. */
export interface InboxFilter {
  readonly project_id: string | null
  readonly kind: NotificationKind | null
  readonly unread: boolean
}

/** The time in milliseconds during which a deletion can be undone. */
export const undoMs = 5_000
const pageSize = 100

type Items = readonly Notification[]
type Change = (items: Items) => Items

/** The loaded pages of the inbox, and the unread count. */
export const useNotifications = defineStore('notifications', () => {
  const client = useClient()
  const session = useSession()
  const filter = shallowRef<InboxFilter>({ project_id: null, kind: null, unread: false })
  const items = shallowRef<Items>([])
  const failure = shallowRef<unknown>(null)
  const loading = ref(false)
  const loaded = ref(false)
  /** The number of tasks with unread notifications, as the service counts them; null until then. */
  const count = ref<number | null>(null)
  const changes = createOptimisticChanges()
  const listeners = new Set<(item: Notification) => void>()
  /** The IDs of notifications that the user deleted, but the service has not. */
  const pendingDeletions = shallowReactive(new Set<string>())
  let cursor: string | null = null
  let latest = 0
  /**
   * Whether the service narrows the list. What needs the user depends on tasks as they are now, so that is not its
   * kind: the inbox leaves out the rest.
   */
  const asksFor = ({ kind }: InboxFilter): NotificationKind | null => (kind === 'needs_you' ? null : kind)
  /** Changes since the pending request, which its reply may lack. */
  let changesSinceRequest: Change[] = []

  function change(step: Change): void {
    if (loading.value) changesSinceRequest.push(step)
    items.value = step(items.value)
  }
  async function ask(after: string | null): Promise<void> {
    const attempt = ++latest
    const { project_id, unread } = filter.value
    const kind = asksFor(filter.value)
    loading.value = true
    changesSinceRequest = []
    try {
      // Otherwise the reply could undo marks that are still being sent.
      await changes.settled()
      if (attempt !== latest) return
      const page = await client.call('notifications.list', {
        limit: pageSize,
        ...(project_id !== null && { project_id }),
        ...(kind !== null && { kind }),
        ...(unread && { read: false }),
        // A task is what its newest is: what came before that is over.
        ...((kind !== null || unread) && { newest: true }),
        ...(after !== null && { cursor: after }),
      })
      if (attempt !== latest) return
      const known = after === null ? [] : items.value
      const ids = new Set(known.map((item) => item.id))
      const joined: Items = [...known, ...page.items.filter((item) => !ids.has(item.id))]
      items.value = changesSinceRequest.reduce((list, step) => step(list), joined)
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
      // No number is better than a wrong one; the next connection asks again.
      if (!(error instanceof Error)) throw error
      count.value = null
    }
  })
  const setRead = (ids: ReadonlySet<string>, read: boolean): void =>
    change((list) => list.map((item) => (ids.has(item.id) && item.read !== read ? { ...item, read } : item)))
  const drop = (isGone: (item: Notification) => boolean): void => change((list) => list.filter((item) => !isGone(item)))

  function fits(wanted: InboxFilter, { project_id, event_type }: Notification): boolean {
    const kind = asksFor(wanted)
    return (
      (wanted.project_id === null || wanted.project_id === project_id) && (kind === null || kind === kindOf(event_type))
    )
  }
  /** Returns whether the current user caused the notification. It is no news to them, and ends what came before it. */
  const isOwn = ({ caused_by }: Notification) => caused_by === `user:${session.me?.handle ?? 'local'}`
  function created(data: EventPayload<'notification.created'>): void {
    const { notification_id: id, occurred_at: created_at, ...rest } = data
    const item: Notification = { ...rest, id, created_at, read: false }
    if (fits(filter.value, item) || isOwn(item))
      change((list) => (list.some((known) => known.id === id) ? list : [item, ...list]))
    void recount()
    if (isOwn(item)) return
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
  /** Returns the notifications that one inbox row stands for: all of the same task. */
  const rowOf = (item: Notification) => items.value.filter(({ task_id }) => task_id === item.task_id)
  /** Marks a notification. Reading the newest of a task reads them all; marking as unread affects only it. */
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
      pendingDeletions.delete(id)
    }
    drop((item) => item.id === id)
  }
  return {
    filter: computed(() => filter.value),
    /** The newest notification of each task, unless that is the user's own act. */
    items: computed(() =>
      newestOfTasks(items.value.filter((item) => !pendingDeletions.has(item.id))).filter((item) => !isOwn(item)),
    ),
    failure: computed(() => failure.value),
    loading: computed(() => loading.value),
    loaded: computed(() => loaded.value),
    /** The number of tasks with unread notifications in all projects; null until known. */
    unread: computed(() => {
      const unreadDeletions = new Set(
        items.value.flatMap((item) => (pendingDeletions.has(item.id) && !item.read ? [item.task_id] : [])),
      ).size
      return count.value === null ? null : Math.max(0, count.value - unreadDeletions)
    }),
    /** Loads the first page for the filter. */
    load: (): Promise<void> => ask(null),
    /** Loads the next page, if there is one. */
    more: async (): Promise<void> => {
      if (!loading.value && cursor !== null && failure.value === null) await ask(cursor)
    },
    /** Changes the filter, clears the list and loads the first page. */
    show: async (next: Partial<InboxFilter>): Promise<void> => {
      filter.value = { ...filter.value, ...next }
      items.value = []
      loaded.value = false
      cursor = null
      await ask(null)
    },
    /** Reloads after a gap in the events. The list is skipped until it is first shown. */
    reload: async (): Promise<void> => {
      changes.forget()
      await Promise.all([recount(), ...(loaded.value ? [ask(null)] : [])])
    },
    created,
    /** Calls back for each new notification until the returned function is called. */
    onCreated: (listener: (item: Notification) => void): (() => void) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    marked,
    deleted: (id: string): void => forget((item) => item.id === id),
    forgetTask: (taskId: string): void => forget((item) => item.task_id === taskId),
    forgetProject: (projectId: string): void => forget((item) => item.project_id === projectId),
    mark,
    /** Marks all notifications of the filtered project, or of all projects, as read; also those that are not loaded. */
    markAllRead: async (): Promise<void> => {
      const { project_id } = filter.value
      await client.call('notifications.mark_all_read', project_id === null ? {} : { project_id })
    },
    /**
     * Hides a notification and its row at once, and deletes them after `undoMs`. Returns a
     * function that undoes this.
     */
    remove: (id: string, onFailure: (error: unknown) => void): (() => void) => {
      const item = items.value.find((one) => one.id === id)
      const ids = item ? rowOf(item).map((one) => one.id as string) : [id]
      for (const each of ids) pendingDeletions.add(each)
      const timer = setTimeout(() => void Promise.all(ids.map(erase)).catch(onFailure), undoMs)
      return () => {
        clearTimeout(timer)
        for (const each of ids) pendingDeletions.delete(each)
      }
    },
  }
})

function newestOfTasks(items: Items): Items {
  const seen = new Set<string>()
  return items.filter(({ task_id }) => !seen.has(task_id) && seen.add(task_id))
}
