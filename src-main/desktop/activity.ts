import type { EventEnvelope, FeedItem } from '../../src-shared/contract/events.ts'
import type { OperationInput, OperationName, OperationOutput } from '../../src-shared/contract/operations.ts'

/** What goes on in all projects, for the tray and for leaving. */
export interface Activity {
  /** Agents at work. */
  readonly running: number
  readonly projects: readonly { readonly id: string; readonly paused: boolean }[]
}

/** Calls of the API as the person at this machine. */
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
const telling: readonly EventEnvelope['type'][] = [
  'execution.started',
  'execution.finished',
  'execution.updated',
  'project.updated',
  'task.deleted',
  'user.updated',
]

/** Follows the events, and counts anew when one may have changed what runs. */
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
  /** One count at a time; what happens during it is counted once more. */
  function ask(): void {
    again = true
    counting ??= count()
      .catch((error: unknown) => ports.onBug(error))
      .finally(() => (counting = null))
  }
  async function follow(): Promise<void> {
    // Whoever registers is somebody else from then on, and hears of other projects.
    for (let renewed = true; renewed && !closing.signal.aborted;) {
      renewed = false
      const events = ports.events(closing.signal)
      ask()
      for await (const item of events) {
        if (item.kind === 'reset' || (item.kind === 'event' && telling.includes(item.event.type))) ask()
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
