import type { WorkflowState } from '../../../src-shared/contract/workflow-definition.ts'
import { cascadeOnSuccess } from './graph.ts'

/** One way out of a state. `turn` is how it is told; null for the way straight on. */
export interface Way {
  readonly kind: 'forward' | 'declared' | 'reject' | 'cascade'
  readonly to: string
  readonly turn: string | null
}

/**
 * Every way out of a state, as the engine takes it: none out of a terminal one, and none forward out
 * of a gate that nobody can pass. Only the first declared transition is the way straight on, or the
 * cascade of a hook that leads to the same state or where none is declared.
 */
export function waysOf(state: WorkflowState, isStuck: boolean): readonly Way[] {
  if (state.kind === 'terminal') return []
  const ways: Way[] = []
  for (const [index, { to, label }] of state.transitions.entries()) {
    if (index > 0) ways.push({ kind: 'declared', to, turn: `${label} at ${state.label}` })
    else if (!isStuck) ways.push({ kind: 'forward', to, turn: null })
  }
  const reject = state.kind === 'gate' ? state.gate_config?.reject_target : undefined
  if (reject !== undefined) ways.push({ kind: 'reject', to: reject, turn: `rejected at ${state.label}` })
  for (const hook of Object.values(state.hooks ?? {}).flat()) {
    const action = hook.plugin ?? 'a script'
    const onward = cascadeOnSuccess(state, hook)
    if (onward !== undefined) {
      const turn = ways.length === 0 ? null : `${action} leads on at ${state.label}`
      ways.push({ kind: 'cascade', to: onward, turn })
    }
    if (typeof hook.on_failure === 'object') {
      ways.push({ kind: 'cascade', to: hook.on_failure.cascade, turn: `${action} fails at ${state.label}` })
    }
  }
  return ways
}
