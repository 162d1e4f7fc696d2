import { hasTrait, type Workflow } from '../domain/workflow/graph.ts'
import type { Queries } from '../ports/store.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { lastGate } from '../transitions/count-rejections.ts'

/** Returns the gate that the task passed before its merge; without one, the state that it was merged from. */
export function gateOf(q: Queries, workflow: Workflow, task: TaskRecord): string | null {
  const gate = lastGate(q, workflow, task)
  if (gate) return gate.name
  const entry = q.transitions.byTask(task.id).findLast(({ to_state }) => {
    const state = workflow.states.get(to_state)
    return state !== undefined && hasTrait(workflow, state, 'merges')
  })
  const from = entry && workflow.states.get(entry.from_state)
  return from && from.kind !== 'terminal' ? from.name : null
}
