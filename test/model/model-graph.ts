import type { HookPhase, StateHook, WorkflowDefinition } from '../../src-shared/contract/workflow-definition.ts'
import type { State, Who } from './model-types.ts'

/** Reads the rules of a definition each time, slowly and simply. */
export interface Graph {
  state(name: string): State
  /** The state of kind `initial`. */
  readonly queue: string
  readonly cancellation: string | null
  /** The state whose on_enter publishes a task as blocked, which only a person can resolve. */
  readonly blocked: string | null
  forward(name: string): string | null
  /** The states after this one on the forward path, in order. */
  ahead(name: string): readonly string[]
  hooks(name: string, phase: HookPhase): readonly StateHook[]
  /** Whether its gate writes a review row: it runs CI on entry. */
  hasReview(name: string): boolean
  /** The role that works in a state; `assignee` for an active state without one. */
  role(name: string): string | null
  /** Whether nothing can happen to a task there. */
  terminal(name: string): boolean
}

export function graphOf(definition: WorkflowDefinition): Graph {
  const state = (name: string): State => {
    const found = definition.states.find((one) => one.name === name)
    if (!found) throw new Error(`The workflow has no state ${name}.`)
    return found
  }
  const forward = (name: string) => state(name).transitions[0]?.to ?? null
  const hooks = (name: string, phase: HookPhase) => state(name).hooks?.[phase] ?? []
  const named = definition.states.find((one) => one.kind === 'terminal' && one.name === 'cancelled')
  return {
    state,
    queue: definition.states.find((one) => one.kind === 'initial')?.name ?? '',
    cancellation: definition.cancellation_state ?? named?.name ?? null,
    blocked:
      definition.states.find((one) =>
        hooks(one.name, 'on_enter').some((hook) => hook.plugin === 'publish_task_blocked'),
      )?.name ?? null,
    forward,
    ahead: (name) => {
      const path: string[] = []
      for (let at = forward(name); at !== null && at !== name && !path.includes(at); at = forward(at)) path.push(at)
      return path
    },
    hooks,
    hasReview: (name) => hooks(name, 'before_enter').some((hook) => hook.plugin === 'run_ci_steps'),
    role: (name) => state(name).role ?? (state(name).kind === 'active' ? 'assignee' : null),
    terminal: (name) => state(name).kind === 'terminal',
  }
}

/** `agent_only` includes the system, and `user_only` means people only. */
export function admits(audience: 'all' | 'agent_only' | 'user_only' | undefined, by: Who): boolean {
  if (audience === 'agent_only') return by !== 'user'
  if (audience === 'user_only') return by === 'user'
  return true
}
