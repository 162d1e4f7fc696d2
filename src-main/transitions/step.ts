import type { ErrorAnnotation, HookOutcome } from '../../src-shared/contract/tasks.ts'
import type { Effect, FailedHook } from '../domain/transition/effects.ts'
import type { Tx } from '../core/event-feed.ts'
import type { NotificationDraft } from '../core/notify.ts'
import type { TaskRecord } from '../ports/task-queries.ts'

/** What a step gets for its run. */
export interface StepContext {
  readonly signal: AbortSignal
  /** Returns the process marker for the step's scripts; it is saved before it is returned. */
  readonly processMarker: () => string
}

interface StepOutcomeBase {
  readonly outcome?: HookOutcome
  readonly annotation?: ErrorAnnotation
  readonly notify?: NotificationDraft
  /** A failed blocking hook before work: the task is blocked once all hooks have run. */
  readonly failed?: FailedHook
  /** Further writes in the transaction that saves the outcome. */
  readonly also?: (tx: Tx) => void
  /** The gate itself rejects, which is no fault of the task or the hook. */
  readonly rejects?: boolean
}

/** Where a step leads: to the next step, to another transition, or to a wait until a person decides. */
export type StepOutcome =
  | (StepOutcomeBase & { readonly kind: 'advance'; readonly cascade_skipped?: boolean })
  /**
   * `now` is the effect as stored at the write: an edit of the workflow may have renamed its states. Returns whether
   * the task moved; if it can't, the next step follows.
   */
  | (StepOutcomeBase & { readonly kind: 'move'; readonly move: (tx: Tx, task: TaskRecord, now: Effect) => boolean })
  | (StepOutcomeBase & { readonly kind: 'block'; readonly annotation: ErrorAnnotation })
