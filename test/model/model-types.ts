import type { HookOutcome } from '../../src-shared/contract/tasks.ts'
import type { HookPhase, StateHook, WorkflowDefinition } from '../../src-shared/contract/workflow-definition.ts'

/** The answer that the test gives a hook. `lacking`: skipped, because what it needs does not exist. */
export type Answer = 'ok' | 'failed' | 'skipped' | 'lacking'

/** The outcome of a hook. Only CI rejects: it is the gate's own rejection. */
export type Result = Answer | 'rejected'

/** Who acts. The agents are named after their usual role. */
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

/** Everything that is compared between engine and model. */
export interface Seen {
  /** The refusal's code, or `ok`. */
  readonly answer: string
  readonly state: string
  readonly barrier: boolean
  readonly version: number
  readonly annotation: string | null
  readonly roles: Readonly<Record<string, Who>>
  readonly review: string | null
  /** The role of the running execution. */
  readonly execution: string | null
  readonly audit: readonly SeenEntry[]
  /** The entries since the previous trigger. */
  readonly events: readonly SeenEvent[]
}

export type State = WorkflowDefinition['states'][number]

/** The hook's name in the timeline. */
export const actionOf = (hook: StateHook): string => hook.plugin ?? 'script'
