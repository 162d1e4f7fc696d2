import type { TransitionId } from '../../../src-shared/contract/ids.ts'
import type { ErrorAnnotation, HookOutcome } from '../../../src-shared/contract/tasks.ts'
import type { Step } from './phases.ts'
import type { TransitionCause } from './plan-transition.ts'

interface Progress {
  readonly from: string
  readonly to: string
  readonly triggered_by: string
  /** Counts the steps that are done; a restart goes on there. */
  readonly cursor: number
  /** How many cascades led here. */
  readonly depth: number
  /** The steps as they were when the workflow was edited meanwhile; else those of the workflow in force. */
  readonly steps?: readonly Step[]
  /** The present step failed and waits for somebody's word; a restart does not run it again. */
  readonly held?: boolean
  /** What the scripts of the present step carry, written down before they start: a killed service leaves them behind. */
  readonly mark?: string
}

/** A blocking hook that failed, for the one who has to say how to go on. */
export interface FailedHook {
  /** Which of the steps it is. */
  readonly at: number
  /** `before_work[0]`. */
  readonly hook: string
  /** What it runs, in one line. */
  readonly title: string
  readonly reason: string
  readonly exit_code: number | null
  readonly stderr_summary: string
  readonly log_name: string
}

/** What must follow a committed transition: its hook points, in order. */
export interface EnterEffect extends Progress {
  readonly kind: 'enter'
  readonly transition_id: TransitionId
  /** The blocking hooks before work that failed, in order. */
  readonly failed?: readonly FailedHook[]
  /** Of the hooks before work, the steps that are run again; the others are behind the task. */
  readonly redo?: readonly number[]
  /** A hook whose work a later step builds on was skipped: the automatic follow-up is skipped too. */
  readonly cascade_skipped: boolean
}

/**
 * A transition that nobody waits for and that its source's `before_exit` hooks have still to allow:
 * the hooks first, then the move.
 */
export interface LeaveEffect extends Progress {
  readonly kind: 'leave'
  readonly cause: TransitionCause
  readonly reason: string | null
  readonly outcomes: readonly HookOutcome[]
  /** Put on the task with the move. */
  readonly annotation: ErrorAnnotation | null
}

export type Effect = EnterEffect | LeaveEffect
