import type { ErrorAnnotation, HookOutcome } from '../../src-shared/contract/tasks.ts'
import type { Effect, FailedHook } from '../domain/transition/effects.ts'
import type { Tx } from '../core/event-feed.ts'
import type { NotificationDraft } from '../core/notify.ts'
import type { TaskRecord } from '../ports/store.ts'

/** What a step runs under. */
export interface StepContext {
  readonly signal: AbortSignal
  /** The mark for the scripts of the step; written down before it is given out. */
  readonly processMarker: () => string
}

interface StepOutcomeBase {
  readonly outcome?: HookOutcome
  readonly annotation?: ErrorAnnotation
  readonly notify?: NotificationDraft
  /** A blocking hook before work that failed: the task is held once all have run. */
  readonly failed?: FailedHook
  /** Written in the same transaction. */
  readonly also?: (tx: Tx) => void
  /** It is the gate's own no, which is no fault. */
  readonly rejects?: boolean
}

/** Where a step leads: on to the next, or to another transition; or it holds the task until somebody says how to go on. */
export type StepOutcome =
  | (StepOutcomeBase & { readonly kind: 'advance'; readonly cascade_skipped?: boolean })
  /**
   * `now` is the effect as it stands by then: an edit of the workflow may have renamed the states in it.
   * Answers whether the task is on its way; where it can't go, the next step follows.
   */
  | (StepOutcomeBase & { readonly kind: 'move'; readonly move: (tx: Tx, task: TaskRecord, now: Effect) => boolean })
  | (StepOutcomeBase & { readonly kind: 'block'; readonly annotation: ErrorAnnotation })
