import type { Logger } from '../platform/logging/log.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logs } from '../ports/logs.ts'
import type { Places } from '../ports/place.ts'
import type { Store } from '../ports/store.ts'
import type { DurableWrites } from './durable-writes.ts'
import type { EventFeed } from './event-feed.ts'
import type { Workflows } from './workflows.ts'

/** The services that every capability uses. A port that only some need is in the type of those. */
export interface Ground {
  readonly store: Store
  readonly feed: EventFeed
  readonly writes: DurableWrites
  readonly places: Places
  readonly logs: Logs
  readonly clock: Clock
  /** A new UUIDv7, greater than every one before it in this process. */
  readonly newId: () => string
  readonly redactor: (patterns: readonly string[]) => (text: string) => string
  readonly workflows: Workflows
  readonly log: Logger
}

export function nowIso(context: { readonly clock: Clock }): string {
  return new Date(context.clock.now()).toISOString()
}
