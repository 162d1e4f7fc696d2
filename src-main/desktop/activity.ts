import type { EventEnvelope, FeedItem } from '../../src-shared/contract/events.ts'
import type { OperationInput, OperationName, OperationOutput } from '../../src-shared/contract/operations.ts'

/** The running work of all projects, for the tray and for quitting. */
export interface Activity {
  /** Number of running agents. */
  readonly running: number
  readonly projects: readonly { readonly id: string; readonly paused: boolean }[]
}

/** Calls the API as the local user. */
export interface ActivityPorts {
  call<N extends OperationName>(name: N, input: OperationInput<N>): Promise<OperationOutput<N>>
  events(signal: AbortSignal): AsyncIterable<FeedItem>
  onChange(activity: Activity): void
  onBug(error: unknown): void
}

export interface ActivityWatch extends Disposable {
  now(): Activity
}

const nothing: Activity = { running: 0, projects: [] }
const watchedEvents: readonly EventEnvelope['type'][] = [
  'execution.started',
  'execution.finished',
  'execution.updated',
  'project.updated',
  'task.deleted',
  'user.updated',
]

/** Follows the events and recounts after each one that may have changed what runs. */
export function watchActivity(ports: ActivityPorts): ActivityWatch {
  const closing = new AbortController()
  let now = nothing
  let counting: Promise<void> | null = null
  let again = false

  async function count(): Promise<void> {
    do {
      again = false
      const next = await read(ports)
      if (closing.signal.aborted || JSON.stringify(next) === JSON.stringify(now)) continue
      now = next
      ports.onChange(now)
    } while (again && !closing.signal.aborted)
  }
  /** Counts once at a time; an event during a count starts another. */
  function ask(): void {
    again = true
    counting ??= count()
      .catch((error: unknown) => ports.onBug(error))
      .finally(() => (counting = null))
  }
  async function follow(): Promise<void> {
    // Registering changes the local user and which projects the stream covers, so the stream is reopened.
    for (let renewed = true; renewed && !closing.signal.aborted;) {
      renewed = false
      const events = ports.events(closing.signal)
      ask()
      for await (const item of events) {
        if (item.kind === 'reset' || (item.kind === 'event' && watchedEvents.includes(item.event.type))) ask()
        renewed = item.kind === 'event' && item.event.type === 'user.updated'
        if (renewed) break
      }
    }
  }
  void follow().catch((error: unknown) => {
    if (!closing.signal.aborted) ports.onBug(error)
  })
  return {
    now: () => now,
    [Symbol.dispose]: () => closing.abort(),
  }
}

async function read({ call }: ActivityPorts): Promise<Activity> {
  const { items } = await call('projects.list', {})
  const queues = await Promise.all(items.map(({ id }) => call('projects.queue', { project_id: id })))
  return {
    running: queues.reduce((sum, queue) => sum + queue.running.length, 0),
    projects: items.map(({ id, paused_at }) => ({ id, paused: paused_at !== null })),
  }
}
