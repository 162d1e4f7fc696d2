import type { JobId, RunnerId } from '../../src-shared/contract/ids.ts'

/** Who asks for work: a runner for all of its jobs, or a pod for the one that it was made for. */
export interface JobSeeker {
  readonly runner_id: RunnerId
  readonly job_id: JobId | null
}

/** The runners that are connected, by their tokens. */
export interface RunnerTokens {
  /** Makes a token for a link of a runner; `end` makes it open nothing. */
  make(runner_id: RunnerId, job_id?: JobId): { readonly token: string; end(): void }
  find(token: string): JobSeeker | null
}
