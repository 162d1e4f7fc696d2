import type { TransitionId } from '../../../src-shared/contract/ids.ts'

/**
 * What must follow a committed transition: its hook points, in order. `cursor` counts the steps
 * that are done; a restart goes on there. `depth` counts the cascades that led here.
 */
export interface Effect {
  readonly kind: 'enter'
  readonly transition_id: TransitionId
  readonly from: string
  readonly to: string
  readonly triggered_by: string
  readonly cursor: number
  readonly depth: number
  /** A hook whose work a later step builds on was skipped: the automatic follow-up is skipped too. */
  readonly cascade_skipped: boolean
  /** What the scripts of the present step carry, written down before they start: a killed service leaves them behind. */
  readonly mark?: string
}
