import type { WorkflowState } from '../../../src-shared/contract/workflow-definition.ts'
import { cascadeOnSuccess } from './graph.ts'

/** One way out of a state. `label` is how it is told; null for the way straight on. */
export interface WorkflowEdge {
  readonly kind: 'forward' | 'declared' | 'reject' | 'cascade'
  readonly to: string
  readonly label: string | null
}

/**
 * Every way out of a state, as the engine takes it: none out of a terminal one, and none forward out
 * of a gate that nobody can pass. Only the first declared transition is the way straight on, or the
 * cascade of a hook that leads to the same state or where none is declared.
 */
export function outgoingEdges(state: WorkflowState, isStuck: boolean): readonly WorkflowEdge[] {
  if (state.kind === 'terminal') return []
  const ways: WorkflowEdge[] = []
  for (const [index, { to, label }] of state.transitions.entries()) {
    if (index > 0) ways.push({ kind: 'declared', to, label: `${label} at ${state.label}` })
    else if (!isStuck) ways.push({ kind: 'forward', to, label: null })
  }
  const reject = state.kind === 'gate' ? state.gate_config?.reject_target : undefined
  if (reject !== undefined) ways.push({ kind: 'reject', to: reject, label: `rejected at ${state.label}` })
  for (const hook of Object.values(state.hooks ?? {}).flat()) {
    const action = hook.plugin ?? 'a script'
    const onward = cascadeOnSuccess(state, hook)
    if (onward !== undefined) {
      const label = ways.length === 0 ? null : `${action} leads on at ${state.label}`
      ways.push({ kind: 'cascade', to: onward, label })
    }
    if (typeof hook.on_failure === 'object') {
      ways.push({ kind: 'cascade', to: hook.on_failure.cascade, label: `${action} fails at ${state.label}` })
    }
  }
  return ways
}
