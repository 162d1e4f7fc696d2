import type { AgentId, ExecutionId, TransitionId } from '../../../src-shared/contract/ids.ts'
import type { HookEvent, LifecycleHook, LifecycleHooks } from '../../../src-shared/contract/lifecycle-hooks.ts'

/** A hook with its index among those of its event, from 0. */
export interface IndexedHook {
  readonly index: number
  readonly hook: LifecycleHook
}

/** The hooks of an event that still have to run, as configured when the event happened, with the event's data. */
export interface PendingHooks {
  readonly event: HookEvent
  readonly hooks: readonly IndexedHook[]
  /** The state before, and the state of the task at the event. */
  readonly from: string
  readonly to: string
  readonly triggered_by: string
  readonly agent_id: AgentId | null
  readonly execution_id: ExecutionId | null
  /** The transition whose timeline entry gets the outcomes. */
  readonly transition_id: TransitionId | null
  /** The number of hooks that are done; a restart continues there. */
  readonly cursor: number
  /** The process marker of the current hook's scripts: a killed service leaves them behind. */
  readonly process_marker?: string
}

/** Returns the enabled hooks of an event, each with its index. */
export function enabledHooks(hooks: LifecycleHooks, event: HookEvent): readonly IndexedHook[] {
  return (hooks[event] ?? [])
    .map((hook, index) => ({ index, hook }))
    .filter(({ hook }) => hook.type === 'script' || hook.enabled)
}

/** Returns the name of a hook for errors and the timeline. */
export function hookAction(hook: LifecycleHook): string {
  return hook.type === 'plugin' ? hook.name : 'script'
}
