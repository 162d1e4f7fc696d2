import type { Runner, RunnerConfig } from '../../src-shared/contract/runners.ts'
import type { ProjectId, RunnerId } from '../../src-shared/contract/ids.ts'

/** `config` is null for this machine, which has none. */
export type RunnerRecord = Omit<Runner, 'config' | 'running'> & { readonly config: RunnerConfig | null }

export interface RunnerQueries {
  get(id: RunnerId): RunnerRecord | null
  /** Returns this machine, then the others, oldest first. */
  list(): readonly RunnerRecord[]
  put(record: RunnerRecord): void
  delete(id: RunnerId): void
}

/** What a dev container of a project wants and consists of, which an admin lets reach the machine of a runner. */
export interface TrustedContent {
  readonly runner_id: RunnerId
  readonly project_id: ProjectId
  readonly sha256: string
}

export interface RunnerTrustQueries {
  has(content: TrustedContent): boolean
  put(content: TrustedContent & { readonly trusted_by: string; readonly created_at: string }): void
}
