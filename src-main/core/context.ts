import type { Logger } from '../platform/logging/log.ts'
import type { DurableWrites } from './durable-writes.ts'
import type { EventFeed } from './event-feed.ts'
import type { AgentTokens } from '../ports/agent-tokens.ts'
import type { AttachmentFiles } from '../ports/attachment-files.ts'
import type { Clock } from '../ports/clock.ts'
import type { Containment } from '../ports/containment.ts'
import type { Executors } from '../ports/executors.ts'
import type { Logs } from '../ports/logs.ts'
import type { Scripts } from '../ports/scripts.ts'
import type { Workspaces } from '../ports/workspaces.ts'
import type { Store } from '../ports/store.ts'
import type { Workflows } from './workflows.ts'

interface EngineConfig {
  readonly workspaceRoot: string
  readonly cleanupDelaySeconds: number
  /** Scheme, host and port of the HTTP API; null while it does not listen. */
  readonly apiUrl: () => string | null
}

/** The services that every part of the engine uses. */
export interface EngineContext {
  readonly store: Store
  readonly feed: EventFeed
  readonly writes: DurableWrites
  readonly workspaces: Workspaces
  readonly executors: Executors
  readonly containment: Pick<Containment, 'refusal' | 'effectiveLevel' | 'keepsRefs'>
  readonly scripts: Scripts
  readonly logs: Logs
  readonly attachmentFiles: AttachmentFiles
  readonly agentTokens: AgentTokens
  readonly clock: Clock
  /** A new UUIDv7, greater than every one before it in this process. */
  readonly newId: () => string
  readonly redactor: (patterns: readonly string[]) => (text: string) => string
  /** From this call on, the values of these variables are redacted wherever text is written or sent. */
  readonly rememberSecrets: (env: Readonly<Record<string, string>>) => void
  readonly workflows: Workflows
  readonly log: Logger
  readonly config: EngineConfig
}

export function nowIso(context: { readonly clock: Clock }): string {
  return new Date(context.clock.now()).toISOString()
}
