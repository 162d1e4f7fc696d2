import type { AgentId, ExecutionId, TransitionId } from '../../../src-shared/contract/ids.ts'
import type { HookEvent, LifecycleHook, LifecycleHooks } from '../../../src-shared/contract/lifecycle-hooks.ts'

/** A hook with its place among those of its event, from 0. */
export interface IndexedHook {
  readonly index: number
  readonly hook: LifecycleHook
}

/** A moment at which a project's hooks run: the hooks as they were then, and what they are told of it. */
export interface PendingHooks {
  readonly event: HookEvent
  readonly hooks: readonly IndexedHook[]
  /** The state before, and the one that the task was in then. */
  readonly from: string
  readonly to: string
  readonly triggered_by: string
  readonly agent_id: AgentId | null
  readonly execution_id: ExecutionId | null
  /** In whose entry of the timeline the outcomes stand. */
  readonly transition_id: TransitionId | null
  /** Counts the hooks that are done; a restart goes on there. */
  readonly cursor: number
  /** What the scripts of the present hook carry: a killed service leaves them behind. */
  readonly mark?: string
}

/** The hooks of an event that are switched on, each with its place. */
export function enabledHooks(hooks: LifecycleHooks, event: HookEvent): readonly IndexedHook[] {
  return (hooks[event] ?? [])
    .map((hook, index) => ({ index, hook }))
    .filter(({ hook }) => hook.type === 'script' || hook.enabled)
}

/** What a hook is called in an error and in the timeline. */
export function hookAction(hook: LifecycleHook): string {
  return hook.type === 'plugin' ? hook.name : 'script'
}
