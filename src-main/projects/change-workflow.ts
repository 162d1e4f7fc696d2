import type { Refusal } from '../../src-shared/contract/errors.ts'
import { planChange, type ChangeRefusal } from '../domain/transition/plan-change.ts'
import { readDefinitionText, workflowRefusal } from '../domain/workflow/read-definition.ts'
import type { PluginChecks } from '../domain/workflow/validate.ts'
import type { Tx } from '../core/event-feed.ts'
import { renameImportState } from '../integrations/sync-end.ts'
import type { ProjectRecord } from '../ports/project-queries.ts'
import { toProject } from '../core/views.ts'
import { isDefault, type Workflows } from '../core/workflows.ts'

export interface ChangeDeps {
  readonly workflows: Workflows
  readonly plugins: PluginChecks
}

/**
 * Gives a project another workflow inside the caller's transaction: tasks, their audit and their pending steps follow
 * renamed states. Writes nothing if it refuses. `text` is JSON as a project stores it; empty and `{}` mean the
 * built-in default.
 */
export function changeWorkflow(
  deps: ChangeDeps,
  tx: Tx,
  project: ProjectRecord,
  text: string,
): ProjectRecord | Refusal {
  const read = isDefault(text)
    ? ({ definition: deps.workflows.of('').definition, issues: [] } as const)
    : readDefinitionText(text, deps.plugins)
  if (!read.definition) return workflowRefusal(read.issues)
  const old = deps.workflows.of(project.workflow_definition)
  const counts = tx.tasks.countByStatus(project.id)
  const pending = tx.effects.ofProject(project.id)
  const plan = planChange({ old, next: read.definition, occupied: new Set(counts.keys()), pending })
  if (plan.kind !== 'change') return refusalOf(tx, project, plan)
  for (const effect of plan.pending) tx.effects.update(effect.id, effect.data)
  if (plan.names.size > 0) tx.transitions.renameStates(project.id, plan.names)
  renameImportState(tx, project.id, plan.names)
  const moves = new Map([...plan.names, ...plan.strayed])
  const changed = moves.size > 0 ? tx.tasks.renameStatuses(project.id, moves) : []
  const isRenamed = read.definition.states.some((state) => state.renamed_from !== undefined)
  const updated: ProjectRecord = {
    ...project,
    // Keeps the text as it was written unless states were renamed.
    workflow_definition: isRenamed ? JSON.stringify(plan.definition) : text,
    updated_at: tx.now(),
  }
  tx.projects.put(updated)
  tx.emit('project.updated', { project_id: project.id, project: toProject(tx, updated) })
  for (const task_id of changed) {
    const task = tx.tasks.get(task_id)
    if (task) tx.saveTask({ ...task, version: task.version + 1 })
  }
  return updated
}

function refusalOf(tx: Tx, project: ProjectRecord, refusal: ChangeRefusal): Refusal {
  switch (refusal.kind) {
    case 'invalid':
      return workflowRefusal(refusal.issues)
    case 'states_in_use':
      return {
        code: 'states_in_use',
        message: `Tasks are in ${refusal.states.join(', ')}, which the new workflow doesn't have. Move them first, or map the state with renamed_from.`,
        details: {
          states: refusal.states,
          tasks: refusal.states.flatMap((state) => tx.tasks.idsInStatus(project.id, state)),
        },
      }
    case 'transition_in_use':
      return {
        code: 'transition_in_use',
        message:
          'Tasks are in the middle of a transition that the new workflow does not have. Wait for them to arrive.',
        details: {
          tasks: [...new Set(refusal.used.map((effect) => effect.task_id))],
          transitions: refusal.used.map(({ data }) => ({ from: data.from, to: data.to })),
        },
      }
  }
}
