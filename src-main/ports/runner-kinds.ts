import type { RunnerId } from '../../src-shared/contract/ids.ts'
import type { JobOffer, JobReport } from '../../src-shared/contract/jobs.ts'
import type { RunnerCheckStep } from '../../src-shared/contract/runners.ts'
import type { Cancellable } from './cancellable.ts'
import type { Place } from './place.ts'
import type { RunnerRecord } from './runner-queries.ts'

/** What the kinds of runners can do: they are brought up, reached and checked each in its own way. */
export interface RunnerKinds {
  /** Looks whether runs can start there; all that is wrong is in the steps. */
  check(runner: RunnerRecord, options: Cancellable): Promise<readonly RunnerCheckStep[]>
  /** Returns the place of a runner; it is asked again when the name or configuration has changed. */
  place(runner: RunnerRecord): Place
  /** Tells from now on which runner can be reached again that could not. */
  listen(onReached: (runner_id: RunnerId) => void): void
  /** Ends what a killed service has left on these. Called before any of them is used. */
  tidy(runners: readonly RunnerRecord[]): Promise<void>
  /** Gives jobs to a runner that connects from its side. Throws `ApiError` with what it is told. */
  offers(runner_id: RunnerId, report: JobReport, options: Cancellable): Promise<readonly JobOffer[]>
  /** Such a runner may no longer connect: its jobs are lost. */
  lose(runner_id: RunnerId, why: string): void
  /** Ends what a runner that was removed still has there. */
  end(runner: RunnerRecord, options: Cancellable): Promise<void>
  /** Ends the links; what runs elsewhere goes its way. */
  close(): Promise<void>
}

/** A run could not start because its runner can't be reached: it stays queued, for that one or another. */
export class RunnerUnreachableError extends Error {
  override readonly name = 'RunnerUnreachableError'
  readonly code = 'runner_unreachable'
}
