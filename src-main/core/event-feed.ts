import type {
  Activity,
  EventEnvelope,
  EventPayload,
  EventType,
  FeedItem,
  HookActivity,
  WorktreeChange,
} from '../../src-shared/contract/events.ts'
import type { ProjectId, TaskId } from '../../src-shared/contract/ids.ts'
import type { Clock } from '../ports/clock.ts'
import type { Queries, Store } from '../ports/store.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { toTask } from './views.ts'

/** How many past events are kept for clients that resume; trimming never goes below this number. */
const maxStoredEvents = 20_000
const trimAfter = 100

/** How many events a subscriber may be behind before it has to start over. */
const backlog = 10_000

/**
 * The queries of a running transaction, and a way to announce what it changes. For example:
 *
 *     feed.commit((tx) => {
 *       const task = tx.tasks.get(id)
 *       if (task) tx.saveTask({ ...task, archived: true }) // and its event
 *     })
 */
export interface Tx extends Queries {
  /** Numbers an event and stores it with the change; subscribers get it once the transaction is committed. */
  emit<T extends EventType>(type: T, data: Omit<EventPayload<T>, 'occurred_at'>): void
  /** Writes a changed task with the time of the change, and emits its event. */
  saveTask(task: TaskRecord): TaskRecord
  /** The time of the transaction, as records hold it. */
  now(): string
}

export interface EventFeed {
  /**
   * Runs one transaction and announces its events after the commit. Every change of state goes through here
   * (invariant I1).
   */
  commit<T>(work: (tx: Tx) => T): T
  /** Sends an activity to live subscribers; it is neither numbered nor stored. */
  activity(activity: Activity): void
  /**
   * Tells live subscribers that a worktree's files changed, so that they reload its changes; neither numbered nor
   * stored.
   */
  worktree(change: Omit<WorktreeChange, 'occurred_at'>): void
  /** Tells live subscribers that a hook has started or has new output; neither numbered nor stored. */
  hook(activity: Omit<HookActivity, 'occurred_at'>): void
  /**
   * Yields the stored events after `after` that `wants` accepts (null: only new ones), then live ones until `signal`
   * aborts.
   */
  subscribe(
    after: number | null,
    wants: (item: FeedItem, project_id: ProjectId | null) => boolean,
    signal: AbortSignal,
  ): AsyncIterable<FeedItem>
}

type Listener = (item: FeedItem, project_id: ProjectId | null) => void

/** Creates the feed. `onEvent` is called with every committed event, before any subscriber gets it. */
export function createEventFeed(
  store: Store,
  clock: Clock,
  onEvent: (event: EventEnvelope) => void = () => undefined,
): EventFeed {
  const listeners = new Set<Listener>()
  /** The latest activity of each running agent, so that a subscriber that connects later gets it too. */
  const doing = new Map<TaskId, Activity>()
  let sinceTrim = 0
  const announce = (item: FeedItem, project_id: ProjectId | null) => {
    for (const listener of listeners) listener(item, project_id)
  }
  return {
    commit: (work) => {
      const announced: { event: EventEnvelope; project_id: ProjectId | null }[] = []
      const result = store.write((q) => {
        // Trim before inserting, so that the new rows reuse the freed space.
        if (sinceTrim >= trimAfter) {
          const hasMore = q.events.trim(maxStoredEvents)
          if (!hasMore) sinceTrim = 0
        }
        // Use one timestamp so that a record and its event agree.
        const occurred_at = new Date(clock.now()).toISOString()
        const tx: Tx = {
          ...q,
          emit: (type, data) => {
            const project_id = data.project_id
            const payload = { ...data, occurred_at }
            announced.push({ event: q.events.append(type, project_id, payload), project_id })
          },
          saveTask: (task) => {
            const saved = { ...task, updated_at: occurred_at }
            tx.tasks.put(saved)
            tx.emit('task.updated', { project_id: task.project_id, task_id: task.id, task: toTask(tx, saved) })
            return saved
          },
          now: () => occurred_at,
        }
        const value = work(tx)
        sinceTrim += announced.length
        return value
      })
      for (const { event, project_id } of announced) {
        onEvent(event)
        if (event.type === 'execution.finished') doing.delete(event.data.task_id)
        announce({ kind: 'event', event }, project_id)
      }
      return result
    },
    activity: (activity) => {
      doing.set(activity.task_id, activity)
      announce({ kind: 'activity', activity }, activity.project_id)
    },
    worktree: (change) => {
      const occurred_at = new Date(clock.now()).toISOString()
      announce({ kind: 'worktree', change: { ...change, occurred_at } }, change.project_id)
    },
    hook: (activity) => {
      const occurred_at = new Date(clock.now()).toISOString()
      announce({ kind: 'hook', hook: { ...activity, occurred_at } }, activity.project_id)
    },
    subscribe: (after, wants, signal) => follow({ store, listeners, doing }, after, wants, signal),
  }
}

interface Source {
  readonly store: Store
  readonly listeners: Set<Listener>
  readonly doing: ReadonlyMap<TaskId, Activity>
}

/** Subscribes before it reads the past, so that no event is lost between the two. */
async function* follow(
  { store, listeners, doing }: Source,
  after: number | null,
  wants: (item: FeedItem, project_id: ProjectId | null) => boolean,
  signal: AbortSignal,
): AsyncGenerator<FeedItem> {
  const queue: FeedItem[] = []
  let wake: (() => void) | null = null
  const listener: Listener = (item, project_id) => {
    if (!wants(item, project_id)) return
    if (queue.length >= backlog) {
      // A subscriber that reads too slowly must start over, or its queue would fill the memory.
      queue.length = 0
      queue.push({ kind: 'reset', seq: store.read.events.range().last })
    }
    queue.push(item)
    wake?.()
  }
  const onAbort = () => wake?.()
  listeners.add(listener)
  signal.addEventListener('abort', onAbort)
  try {
    let seen = after ?? store.read.events.range().last
    yield { kind: 'begun', seq: seen }
    if (after !== null) {
      const { first, last } = store.read.events.range()
      if (after > last || (first > 0 && after < first - 1)) {
        yield { kind: 'reset', seq: last }
        seen = last
      }
      for (;;) {
        const page = store.read.events.after(seen, 500)
        for (const event of page) {
          seen = event.seq
          const item: FeedItem = { kind: 'event', event }
          if (wants(item, event.data.project_id)) yield item
        }
        if (page.length < 500) break
      }
    }
    for (const activity of [...doing.values()]) {
      const item: FeedItem = { kind: 'activity', activity }
      if (wants(item, activity.project_id)) yield item
    }
    for (;;) {
      const item = queue.shift()
      if (signal.aborted) return
      if (item) {
        if (item.kind !== 'event' || item.event.seq > seen) yield item
        continue
      }
      await new Promise<void>((resolve) => {
        wake = resolve
        // An event may have arrived since the queue was last checked: don't wait then.
        if (queue.length > 0 || signal.aborted) resolve()
      })
      wake = null
    }
  } finally {
    listeners.delete(listener)
    signal.removeEventListener('abort', onAbort)
  }
}
