import type { ErrorAnnotation } from '../../src-shared/contract/tasks.ts'
import type { NotificationDraft } from './notify.ts'

/** Reasons to skip an action. The first three mean that the context a later hook builds on is missing. */
export const missingContextReasons = ['no_workspace', 'no_agent_run', 'no_execution'] as const
export type SkipReason =
  | (typeof missingContextReasons)[number]
  | 'no_role'
  | 'no_agent'
  | 'person'
  | 'audience'
  | 'unsupported_event'
  | 'superseded'
  | 'review_not_passed'
  | 'empty_work'
  /** The task below it in a stack must land first. */
  | 'stacked'
  | 'no_repository'
  | 'not_needed'
  | 'disabled'

export type PluginResult =
  | { readonly kind: 'ok'; readonly note?: string; readonly notify?: NotificationDraft }
  /** Something that the action needs is missing; this is no failure and emits no event. */
  | { readonly kind: 'skipped'; readonly reason: SkipReason }
  | {
      readonly kind: 'failed'
      readonly reason: string
      readonly annotation?: ErrorAnnotation
      readonly notify?: NotificationDraft
      /** Exit code and error output of a failed script. */
      readonly script?: { readonly exit_code: number; readonly stderr_summary: string; readonly log_name: string }
    }
  /** The gate rejects: the task goes to its reject target with this feedback. */
  | {
      readonly kind: 'rejected'
      readonly feedback: string
      /** Gate that rejected; default: the state of the task. */
      readonly gate?: string
      readonly note?: string
      readonly notify?: NotificationDraft
    }
  /** The merge failed, so the task goes back to the gate that it passed, still passed and without a rejection. */
  | {
      readonly kind: 'returned'
      readonly gate: string
      readonly reason: string
      readonly annotation?: ErrorAnnotation
      readonly notify?: NotificationDraft
    }
  /** The work is fine, but a person must decide before the task can continue: it stays in its state. */
  | { readonly kind: 'held'; readonly annotation: ErrorAnnotation }
  /** A person must look at the task: it moves to the state for blocked tasks. */
  | { readonly kind: 'escalate'; readonly annotation: ErrorAnnotation }
