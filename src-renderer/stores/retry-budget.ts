import type { TransitionEntry } from '../../src-shared/contract/tasks.ts'
import type { WorkflowDefinition } from '../../src-shared/contract/workflow-definition.ts'

export interface RetryBudget {
  readonly used: number
  readonly max: number
}

/**
 * Rejections of one gate since a person last moved the task; a person's own rejection starts the count anew.
 * `transitions` oldest first. Null when the gate has no budget.
 */
export function retryBudget(
  transitions: readonly TransitionEntry[],
  gate: WorkflowDefinition['states'][number] | undefined,
): RetryBudget | null {
  const max = gate?.gate_config?.max_rejections
  if (gate === undefined || max === undefined) return null
  let used = 0
  for (const entry of transitions) {
    if (entry.triggered_by.startsWith('user:')) used = 0
    else if (entry.rejection && entry.from_state === gate.name) used++
  }
  return { used, max }
}
