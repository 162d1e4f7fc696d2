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
import type { Queries, Store, TaskRecord } from '../ports/store.ts'
import { toTask } from './views.ts'

/** How much of the past a client can resume over; trimmed now and then, never below this. */
const kept = 20_000
const trimAfter = 100

/** How far behind a subscriber may fall. */
const backlog = 10_000

/** The queries of a running transaction, and a way to announce what it changes. */
export interface Tx extends Queries {
  /** Numbers and keeps an event with the change; subscribers see it once the transaction is committed. */
  emit<T extends EventType>(type: T, data: Omit<EventPayload<T>, 'occurred_at'>): void
  /** Writes a task that has changed, with the time of the change, and tells everybody who looks at it. */
  saveTask(task: TaskRecord): TaskRecord
  /** The time of the transaction, as records hold it. */
  now(): string
}

export interface EventFeed {
  /** One transaction whose events are announced after its commit. Everything that changes state goes through here. */
  commit<T>(work: (tx: Tx) => T): T
  /** A passing remark, neither numbered nor kept. */
  activity(activity: Activity): void
  /** As passing as a remark: whoever looks at the worktree's changes looks again. */
  worktree(change: Omit<WorktreeChange, 'occurred_at'>): void
  /** A hook has begun or said more. */
  hook(activity: Omit<HookActivity, 'occurred_at'>): void
  /** What `wants` lets through after `after` (null: from now on), then live, until the signal ends it. */
  subscribe(
    after: number | null,
    wants: (item: FeedItem, project_id: ProjectId | null) => boolean,
    signal: AbortSignal,
  ): AsyncIterable<FeedItem>
}

type Listener = (item: FeedItem, project_id: ProjectId | null) => void

/** `heard` is told of every event once it is committed, before anybody else. */
export function createEventFeed(
  store: Store,
  clock: Clock,
  heard: (event: EventEnvelope) => void = () => undefined,
): EventFeed {
  const listeners = new Set<Listener>()
  /** What each running agent does now: whoever comes later sees it too. */
  const doing = new Map<TaskId, Activity>()
  let sinceTrim = 0
  const announce = (item: FeedItem, project_id: ProjectId | null) => {
    for (const listener of listeners) listener(item, project_id)
  }
  return {
    commit: (work) => {
      const announced: { event: EventEnvelope; project_id: ProjectId | null }[] = []
      const result = store.write((q) => {
        // First of all, so that what is written next takes the place of what goes.
        if (sinceTrim >= trimAfter) {
          const hasMore = q.events.trim(kept)
          if (!hasMore) sinceTrim = 0
        }
        // One moment for all of it: what a record says of itself is what its event says.
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
        heard(event)
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

/** Listens before it reads the past, so that nothing falls between the two. */
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
      // Whoever reads this slowly starts over instead of filling the memory.
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
        // What came between the look at the queue and here must not be slept over.
        if (queue.length > 0 || signal.aborted) resolve()
      })
      wake = null
    }
  } finally {
    listeners.delete(listener)
    signal.removeEventListener('abort', onAbort)
  }
}
