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

/** What must follow a committed transition: its hook points, in order. */
export interface EnterEffect extends Progress {
  readonly kind: 'enter'
  readonly transition_id: TransitionId
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
