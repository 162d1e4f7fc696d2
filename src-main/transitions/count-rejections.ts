import type { WorkflowState } from '../../src-shared/contract/workflow-definition.ts'
import { hasTrait, isReviewGate, type Workflow } from '../domain/workflow/graph.ts'
import type { TaskRecord, TransitionQueries } from '../ports/task-queries.ts'

/**
 * Returns how often a gate has sent a task back since a person acted on it. A merge whose checks failed counts for the
 * review gate, which had passed the work.
 */
export function countRejections(
  q: { readonly transitions: TransitionQueries },
  workflow: Workflow,
  task: Pick<TaskRecord, 'id' | 'last_human_action_id'>,
  gate: WorkflowState,
): number {
  const byState = q.transitions.rejectionsByGate(task.id, task.last_human_action_id)
  if (byState.size === 0) return 0
  const atGate = byState.get(gate.name) ?? 0
  if (!isReviewGate(workflow, gate)) return atGate
  const merging = [...workflow.states.values()].filter(
    (state) => state.kind !== 'gate' && hasTrait(workflow, state, 'merges'),
  )
  return merging.reduce((sum, { name }) => sum + (byState.get(name) ?? 0), atGate)
}

/** Returns the gate that a task passed on its way to the merge; null if it passed none. */
export function lastGate(
  q: { readonly transitions: TransitionQueries },
  workflow: Workflow,
  task: TaskRecord,
): WorkflowState | null {
  const passed = q.transitions
    .byTask(task.id)
    .findLast(({ from_state }) => workflow.states.get(from_state)?.kind === 'gate')
  return (passed && workflow.states.get(passed.from_state)) ?? null
}
