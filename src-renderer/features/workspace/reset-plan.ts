import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { WorkflowDefinition } from '../../../src-shared/contract/workflow-definition.ts'
import type { Workspace } from '../../../src-shared/contract/workspaces.ts'
import { coderRole, stateOf } from '../../model/workflow-shape.ts'
import { count } from '../../formatters/format-amounts.ts'

/**
 * The effect of a reset. `gone`: worktree and branch are lost and are recreated. `fresh`: the work
 * is saved and restarted.
 */
export type ResetPlan =
  | { readonly kind: 'gone' }
  | {
      readonly kind: 'fresh'
      readonly role: string
      /** The losses in words: `4 commits and uncommitted changes`; null for none. */
      readonly loses: string | null
      /** The label of the state that the task returns to; null if it keeps its state. */
      readonly to: string | null
      readonly refusal: string | null
    }

/** Returns the effect of a reset; null if there is no worktree to reset. */
export function resetPlan(
  task: Task,
  workspace: Workspace | null,
  workflow: WorkflowDefinition | undefined,
): ResetPlan | null {
  if (task.error_annotation?.type === 'workspace_reset_required') return { kind: 'gone' }
  if (workspace === null || workspace.status === 'cleaned' || workflow === undefined) return null
  const now = stateOf(workflow, task.status)
  const role = coderRole(workflow)
  // An ordered subtask works in its parent's worktree, which only the parent resets.
  if (now?.kind === 'terminal' || role === null || workspace.task_id !== task.id) return null
  const parts = [
    ...(workspace.ahead > 0 ? [count(workspace.ahead, 'commit')] : []),
    ...(workspace.dirty ? ['uncommitted changes'] : []),
  ]
  const queue = workflow.states.find((state) => state.kind === 'initial')
  const isUnstarted = now?.kind === 'backlog' || now?.kind === 'initial'
  return {
    kind: 'fresh',
    role,
    loses: parts.length === 0 ? null : parts.join(' and '),
    to: isUnstarted || !queue ? null : queue.label,
    refusal: task.roles[role] === undefined ? 'No one has worked on this yet.' : null,
  }
}
