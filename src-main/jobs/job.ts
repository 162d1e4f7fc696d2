import type { z } from 'zod'
import type { RunLink } from '../../src-shared/contract/executions.ts'
import type { JobId, RunnerId } from '../../src-shared/contract/ids.ts'
import type { JobAsk, JobBeat, JobFinish, JobInput, JobSpec } from '../../src-shared/contract/jobs.ts'
import type { Cancellable } from '../ports/cancellable.ts'

/** What a runner is to do, and what takes that which comes of it. */
export interface JobWork {
  readonly runner_id: RunnerId
  readonly spec: Omit<JobSpec, 'job'>
  /** How long the runner may be out of contact, in milliseconds. */
  readonly grace_ms: number
  /** Room for all that the job sends, in MB. */
  readonly max_push_mb: number
  file(n: number): Promise<Uint8Array | null>
  /** Takes the next bytes of a log; the runner sends more once it has resolved. */
  onLog(name: string, bytes: Uint8Array): Promise<void>
  onAsk(ask_id: string, request: z.infer<typeof JobAsk>['request']): void
  onBeat(beat: z.infer<typeof JobBeat>): void
  /** The contact with the runner began, is lost, or is back. */
  onLink(link: RunLink): void
  /** Returns which of the refs that the runner names have not arrived; takes those that have. */
  arrive(refs: Readonly<Record<string, string>>, options: Cancellable): Promise<readonly string[]>
}

export type JobEnd =
  | { readonly kind: 'finished'; readonly report: JobFinish }
  /** The runner is out of contact or gone; `why` is a sentence. */
  | { readonly kind: 'lost'; readonly why: string }
  /** What would have carried it can't start; `why` is a sentence. */
  | { readonly kind: 'unstarted'; readonly why: string }
  /** It was stopped before a runner had it. */
  | { readonly kind: 'withdrawn' }

/** A job as its owner sees it. */
export interface Job {
  readonly id: JobId
  /** Never rejects. */
  readonly ended: Promise<JobEnd>
  /** Resolves once a runner has taken it, or it has ended. */
  readonly taken: Promise<void>
  /** Gives the runner something more, in order. */
  input(input: Unnumbered): void
  /** Asks the runner to end; withdraws a job that none has. */
  stop(): void
  isLinkLost(): boolean
}

type Unnumbered = JobInput extends infer I ? (I extends JobInput ? Omit<I, 'n'> : never) : never
