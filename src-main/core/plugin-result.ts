import type { ErrorAnnotation } from '../../src-shared/contract/tasks.ts'
import type { NotificationDraft } from './notify.ts'

/** Why there was nothing to do. The first three say that what a later hook builds on is missing. */
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
  | 'no_repository'
  | 'not_needed'
  | 'disabled'

export type PluginResult =
  | { readonly kind: 'ok'; readonly note?: string; readonly notify?: NotificationDraft }
  /** What it needs is missing: no failure, no event. */
  | { readonly kind: 'skipped'; readonly reason: SkipReason }
  | {
      readonly kind: 'failed'
      readonly reason: string
      readonly annotation?: ErrorAnnotation
      readonly notify?: NotificationDraft
      /** What a script said before it failed. */
      readonly script?: { readonly exit_code: number; readonly stderr_summary: string; readonly log_name: string }
    }
  /** The gate says no: the task goes to its reject target with this feedback. */
  | {
      readonly kind: 'rejected'
      readonly feedback: string
      readonly note?: string
      readonly notify?: NotificationDraft
    }
  /** Nothing is wrong with the work, but a person must decide before it goes on: the task stays where it is. */
  | { readonly kind: 'held'; readonly annotation: ErrorAnnotation }
  /** A person must look: the task goes to the state for blocked ones. */
  | { readonly kind: 'escalate'; readonly annotation: ErrorAnnotation }
