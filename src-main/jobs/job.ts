import type { z } from 'zod'
import type { RunLink } from '../../src-shared/contract/executions.ts'
import type { ExecutionId, JobId, RunnerId } from '../../src-shared/contract/ids.ts'
import type {
  JobAccept,
  JobAsk,
  JobBeat,
  JobBeatAnswer,
  JobFinish,
  JobInput,
  JobOffer,
  JobSpec,
  JobReport,
} from '../../src-shared/contract/jobs.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import type { JobAccess } from '../ports/job-access.ts'
import type { JobSeeker } from '../ports/runner-tokens.ts'
import type { JobGround } from '../ports/job-queries.ts'

/** What takes that which comes of a job. */
export interface JobOwner {
  /** How long the runner may be out of contact, in milliseconds. */
  readonly grace_ms: number
  /** Room for all that the job sends, in MB. */
  readonly max_push_mb: number
  file(n: number): Promise<Uint8Array | null>
  /**
   * Takes the next bytes of a log; the runner sends more once it has resolved. Returns what is kept of it by now, or
   * null if nothing of the log is.
   */
  onLog(name: string, bytes: Uint8Array): Promise<KeptLog | null>
  onAsk(ask_id: string, request: z.infer<typeof JobAsk>['request']): void
  /** The contact with the runner began, is lost, or is back. */
  onLink(link: RunLink): void
  /** Returns which of the refs that the runner names have not arrived; takes the work if all of them have. */
  arrive(work: Pick<JobFinish, 'refs' | 'left_there'>, options: Cancellable): Promise<readonly string[]>
  /** Makes another token for the run, because the first one is kept nowhere. */
  newRunToken?(): Promise<string>
}

interface KeptLog {
  /** How many of the bytes taken last are not kept yet: they must be sent again after a restart. */
  readonly held: number
  /** The size of the file that keeps the others. */
  readonly size: number
}

/** What a runner is to do. */
export interface JobWork extends JobOwner {
  readonly runner_id: RunnerId
  readonly spec: Omit<JobSpec, 'job'>
  readonly loan: string
  /** On offer, it ends once its runner was out of contact for too long; else what carries it says when it must. */
  readonly needs_contact: boolean
}

/** A run that a runner has from an earlier service. */
export interface HeldRun {
  readonly job_id: JobId
  readonly execution_id: ExecutionId
  readonly ground: JobGround
  /** By the log, the size of the file that keeps it. */
  readonly sizes: Readonly<Record<string, number>>
}

export type JobEnd =
  | { readonly kind: 'finished'; readonly report: JobFinish }
  /** The runner is out of contact or gone; `why` is a sentence. */
  | { readonly kind: 'lost'; readonly why: string }
  /** What would have carried it can't start; `why` is a sentence. */
  | { readonly kind: 'unstarted'; readonly why: string }
  /** No runner could be reached that takes it. */
  | { readonly kind: 'unreached'; readonly why: string }
  /** It was stopped before a runner had it. */
  | { readonly kind: 'withdrawn' }

/** A job as its owner sees it. */
export interface Job {
  readonly id: JobId
  /** Never rejects; stays open where a runner works on while the service stops. */
  readonly ended: Promise<JobEnd>
  /** Resolves once a runner has taken it, or it has ended. */
  readonly taken: Promise<void>
  /** Lets the runner that has taken it begin: until then it isn't told what to do. */
  begin(): void
  /** What came of the end is saved, so that the runner may forget it. */
  settle(): void
  /** Gives the runner something more, in order. */
  input(input: Unnumbered): void
  /** Asks the runner to end; withdraws a job that none has. */
  stop(): void
  isLinkLost(): boolean
  /** Returns why it can be offered again, because no runner has taken it; null if one has, or it can't start. */
  untaken(): string | null
}

type Unnumbered = JobInput extends infer I ? (I extends JobInput ? Omit<I, 'n'> : never) : never

/** The jobs of all runners. Its methods throw `ApiError` with what a runner is told. */
export interface Jobs extends JobAccess {
  offer(work: JobWork): Job
  /** Returns the run that a runner has from an earlier service; null if none has. */
  held(execution_id: ExecutionId): HeldRun | null
  /** Goes on with a run that a runner has from an earlier service. */
  takeUp(held: HeldRun, owner: JobOwner): Job
  /** Gives out what is on offer for a runner or a pod; waits for it if nothing is. */
  next(seeker: JobSeeker, report: JobReport, options: Cancellable): Promise<readonly JobOffer[]>
  accept(call: JobCall, input: z.infer<typeof JobAccept>, options: Cancellable): Promise<JobSpec>
  file(call: JobCall, n: number, fence: number): Promise<Uint8Array>
  beat(call: JobCall, input: z.infer<typeof JobBeat>, options: Cancellable): Promise<JobBeatAnswer>
  /** Appends to a log: `bytes` begins at `offset` of it. */
  log(
    call: JobCall,
    log: { readonly name: string; readonly offset: number; readonly fence: number },
    bytes: Uint8Array,
  ): Promise<void>
  ask(call: JobCall, input: z.infer<typeof JobAsk>): void
  finish(call: JobCall, input: JobFinish, options: Cancellable): Promise<void>
  /** The runner said, or was seen, to be gone: its jobs are lost, and those that it has not taken end too. */
  lose(runner_id: RunnerId, why: string): void
  /** What carries a job can't start, or has ended; `why` is a sentence. */
  loseJob(job_id: JobId, why: string): void
  /** Its runner can't be reached: unless it has the job, the job ends, to be offered again. */
  unreached(job_id: JobId, why: string): void
  /** Returns whether a job is on offer, or a runner has it. */
  isOpen(job_id: string): boolean
  /** A link has ended: another process of the runner or pod may come by the next. */
  unlinked(seeker: JobSeeker): void
  /** Counts silence; called every `sweepMs` once started. */
  sweep(): void
  /** Begins to count. What none has taken up is lost. */
  start(): void
  /** Resolves once it has started: what is open by then has someone who follows it. */
  readonly started: Promise<void>
  /** The service ends: runs stay with their runners, for the next service; steps end, and what none has begun. */
  close(): void
  /** Returns whether a job is the runner's. */
  isOf(job_id: string, runner_id: RunnerId): boolean
  /** Returns whether a run is on the runner. */
  hasRun(runner_id: RunnerId, execution_id: ExecutionId): boolean
  /** Returns how many runs a runner has, also those that are being stopped. */
  running(runner_id: RunnerId): number
}

/** Which job a request is about, and the token that it brings. */
export interface JobCall {
  readonly job_id: string
  readonly token: string | null
}
