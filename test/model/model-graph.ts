import type { HookPhase, StateHook, WorkflowDefinition } from '../../src-shared/contract/workflow-definition.ts'
import type { State, Who } from './model-types.ts'

/** What the rules ask of a definition, read from it anew each time: slow and plain. */
export interface Graph {
  state(name: string): State
  /** The state of kind `initial`. */
  readonly queue: string
  readonly cancellation: string | null
  /** Where tasks go that nobody but a person can help: the state whose on_enter publishes it. */
  readonly blocked: string | null
  forward(name: string): string | null
  /** The states that the forward path visits after this one, in order. */
  ahead(name: string): readonly string[]
  hooks(name: string, phase: HookPhase): readonly StateHook[]
  /** Its gate writes a review row: it runs CI on the way in. */
  hasReview(name: string): boolean
  /** The role that works in a state; active states have `assignee` unless they name another. */
  role(name: string): string | null
  /** Whether nothing can be done with a task there any more. */
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

/** `agent_only` takes in the system, and `user_only` people alone. */
export function admits(audience: 'all' | 'agent_only' | 'user_only' | undefined, by: Who): boolean {
  if (audience === 'agent_only') return by !== 'user'
  if (audience === 'user_only') return by === 'user'
  return true
}
