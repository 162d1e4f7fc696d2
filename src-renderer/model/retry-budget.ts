import type { Task, TransitionEntry } from '../../src-shared/contract/tasks.ts'
import type { WorkflowDefinition } from '../../src-shared/contract/workflow-definition.ts'

type State = WorkflowDefinition['states'][number]

export interface RetryBudget {
  readonly used: number
  readonly max: number
}

/**
 * Returns the used retry budget of the task's gate, else of the gate that rejected it, else of the
 * first gate that has one. null without a budget.
 */
export function retryBudget(task: Task, workflow: WorkflowDefinition | undefined): RetryBudget | null {
  const states = workflow?.states ?? []
  const used = (state: State): number => task.review_summary?.rejections?.[state.name] ?? 0
  const gate =
    states.find(({ name, kind }) => name === task.status && kind === 'gate') ??
    states.find((state) => used(state) > 0) ??
    states.find((state) => state.gate_config?.max_rejections !== undefined)
  const max = gate?.gate_config?.max_rejections
  return gate === undefined || max === undefined ? null : { used: used(gate), max }
}

/**
 * Returns the gate's used budget after these transitions, oldest first: rejections since a person
 * last moved the task. null if the gate has no budget.
 */
export function budgetAfter(transitions: readonly TransitionEntry[], gate: State | undefined): RetryBudget | null {
  const max = gate?.gate_config?.max_rejections
  if (gate === undefined || max === undefined) return null
  let used = 0
  for (const entry of transitions) {
    if (entry.triggered_by.startsWith('user:')) used = 0
    else if (entry.rejection && entry.from_state === gate.name) used++
  }
  return { used, max }
}
