import type { Runner, RunnerConfig } from '../../src-shared/contract/runners.ts'
import type { RunnerId } from '../../src-shared/contract/ids.ts'

/** `config` is null for this machine, which has none. */
export type RunnerRecord = Omit<Runner, 'config' | 'running'> & { readonly config: RunnerConfig | null }

export interface RunnerQueries {
  get(id: RunnerId): RunnerRecord | null
  /** Returns this machine, then the others, oldest first. */
  list(): readonly RunnerRecord[]
  put(record: RunnerRecord): void
  delete(id: RunnerId): void
}
