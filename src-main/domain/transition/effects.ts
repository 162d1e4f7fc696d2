import type { TransitionId } from '../../../src-shared/contract/ids.ts'
import type { ErrorAnnotation, HookOutcome } from '../../../src-shared/contract/tasks.ts'
import type { Step } from './phases.ts'
import type { TransitionCause } from './plan-transition.ts'

interface Progress {
  readonly from: string
  readonly to: string
  readonly triggered_by: string
  /** The number of steps that are done; a restart continues there. */
  readonly cursor: number
  /** Number of cascades that led to this transition. */
  readonly depth: number
  /** The steps from before an edit of the workflow; without one, the steps follow from the current workflow. */
  readonly steps?: readonly Step[]
  /** The current step failed and waits for a person; a restart does not run it again. */
  readonly blocked?: boolean
  /**
   * The process marker of the current step's scripts, saved before they start, because a killed service leaves them
   * behind.
   */
  readonly process_marker?: string
}

/** A failed blocking hook, for the person who decides how to continue. */
export interface FailedHook {
  /** The index of its step. */
  readonly at: number
  /** `before_work[0]`. */
  readonly hook: string
  /** The command or plugin in one line. */
  readonly title: string
  readonly reason: string
  readonly exit_code: number | null
  readonly stderr_summary: string
  readonly log_name: string
}

/**
 * The steps that must follow a committed transition, in order. For example after `in_progress` → `review`: `cursor: 2`
 * says that the hooks of the entry and the CI steps are done and that the dispatch of the auditor is next; a service
 * that was killed there continues with it.
 */
export interface EnterEffect extends Progress {
  readonly kind: 'enter'
  readonly transition_id: TransitionId
  /** The blocking hooks before work that failed, in order. */
  readonly failed?: readonly FailedHook[]
  /** The indexes of before-work steps to run again; the others are done. */
  readonly retry_steps?: readonly number[]
  /** A person wants the task to land although the checks of its base branch fail. */
  readonly on_red?: true
  /** A hook that a later step depends on was skipped, so its automatic follow-up is skipped too. */
  readonly cascade_skipped: boolean
}

/**
 * A deferred transition that no caller waits for: first the source's `before_exit` hooks, which may refuse it, then
 * the move.
 */
interface LeaveEffect extends Progress {
  readonly kind: 'leave'
  readonly cause: TransitionCause
  readonly reason: string | null
  readonly outcomes: readonly HookOutcome[]
  /** Set on the task with the move. */
  readonly annotation: ErrorAnnotation | null
}

export type Effect = EnterEffect | LeaveEffect
