import type { HookOutcome } from '../../src-shared/contract/tasks.ts'
import type { HookPhase, StateHook, WorkflowDefinition } from '../../src-shared/contract/workflow-definition.ts'

/** What the test decides that a hook answers. `lacking`: skipped, because what it needs is not there. */
export type Answer = 'ok' | 'failed' | 'skipped' | 'lacking'

/** What a hook comes to. Only CI rejects: it is the gate's own no. */
export type Result = Answer | 'rejected'

/** Who acts. The agents are called by the role that they usually have. */
export type Who = 'user' | 'coder' | 'reviewer' | 'system'

export type Trigger =
  | { readonly kind: 'transition'; readonly to: string; readonly by: Who; readonly stale: boolean }
  | { readonly kind: 'claim'; readonly by: 'user' | 'coder' | 'reviewer' }
  | { readonly kind: 'verdict'; readonly verdict: 'pass' | 'fail'; readonly by: 'user' | 'coder' | 'reviewer' }
  | { readonly kind: 'cancel'; readonly by: 'user' | 'coder' }
  | { readonly kind: 'execution_ends'; readonly well: boolean }
  | { readonly kind: 'assign'; readonly role: string; readonly to: 'user' | 'coder' | 'reviewer' }
  | { readonly kind: 'recover'; readonly action: 'retry_hook' | 'skip_hook_once' | 'retry_execution' }

export interface SeenHook {
  readonly phase: HookOutcome['phase']
  readonly action: string
  readonly outcome: 'ok' | 'failed' | 'skipped' | 'blocked'
}

export interface SeenEntry {
  readonly from: string
  readonly to: string
  readonly by: Who
  readonly rejection: boolean
  readonly hooks: readonly SeenHook[]
}

export type SeenEvent =
  | { readonly type: 'transitioned'; readonly from: string; readonly to: string; readonly by: Who }
  | { readonly type: 'effect_failed'; readonly phase: HookPhase; readonly action: string }

/** All that is compared between the engine and the model. */
export interface Seen {
  /** The refusal's code, or `ok`. */
  readonly answer: string
  readonly state: string
  readonly barrier: boolean
  readonly version: number
  readonly annotation: string | null
  readonly roles: Readonly<Record<string, Who>>
  readonly review: string | null
  /** Role of the execution that is at work. */
  readonly execution: string | null
  readonly audit: readonly SeenEntry[]
  /** Those since the trigger before. */
  readonly events: readonly SeenEvent[]
}

export type State = WorkflowDefinition['states'][number]

/** How the timeline names a hook. */
export const actionOf = (hook: StateHook): string => hook.plugin ?? 'script'
