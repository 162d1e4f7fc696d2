import type { AccountWindow } from '../../src-shared/contract/accounts.ts'
import type { Daemon } from '../../src-shared/contract/daemons.ts'
import type { ExecutorProfile } from '../../src-shared/contract/executor-profiles.ts'
import type { AgentId, DaemonId } from '../../src-shared/contract/ids.ts'
import type { Agent } from '../../src-shared/contract/projects.ts'

export type AgentRecord = Agent

/** What a provider has reported of an account. */
export interface AccountRecord {
  readonly account: string
  readonly executor: ExecutorProfile
  readonly limited_until: string | null
  readonly resets_at: string | null
  readonly tries: number
  readonly windows: readonly AccountWindow[]
  readonly told_at: string
}

export type DaemonRecord = Daemon & { readonly token_hash: string; readonly revoked_at: string | null }

export interface AgentQueries {
  get(id: AgentId): AgentRecord | null
  list(): readonly AgentRecord[]
  put(record: AgentRecord): void
  delete(id: AgentId): void
}

export interface AccountQueries {
  get(account: string): AccountRecord | null
  list(): readonly AccountRecord[]
  put(record: AccountRecord): void
}

export interface DaemonQueries {
  /** Includes revoked daemons. */
  get(id: DaemonId): DaemonRecord | null
  /** Returns daemons that are not revoked, oldest first. */
  list(): readonly DaemonRecord[]
  put(record: DaemonRecord): void
}
