import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { WorkflowDefinition } from '../../../src-shared/contract/workflow-definition.ts'
import type { Workspace } from '../../../src-shared/contract/workspaces.ts'
import { coderRole, stateOf } from '../../model/workflow-shape.ts'
import { count } from '../../formatters/format-amounts.ts'

/** `gone`: worktree and branch are lost and are made anew. `fresh`: the work is put aside and begun again. */
export type ResetPlan =
  | { readonly kind: 'gone' }
  | {
      readonly kind: 'fresh'
      readonly role: string
      /** What goes, in words: `4 commits and uncommitted changes`; null when there is nothing to lose. */
      readonly loses: string | null
      /** The label of the state that the task goes back to; null where it stays. */
      readonly to: string | null
      readonly refusal: string | null
    }

/** What a reset of the worktree would do; null where there is none to reset. */
export function resetPlan(
  task: Task,
  workspace: Workspace | null,
  workflow: WorkflowDefinition | undefined,
): ResetPlan | null {
  if (task.error_annotation?.type === 'workspace_reset_required') return { kind: 'gone' }
  if (workspace === null || workspace.status === 'cleaned' || workflow === undefined) return null
  const now = stateOf(workflow, task.status)
  const role = coderRole(workflow)
  // An ordered subtask works in its parent's worktree, which is the parent's to reset.
  if (now?.kind === 'terminal' || role === null || workspace.task_id !== task.id) return null
  const parts = [
    ...(workspace.ahead > 0 ? [count(workspace.ahead, 'commit')] : []),
    ...(workspace.dirty ? ['uncommitted changes'] : []),
  ]
  const queue = workflow.states.find((state) => state.kind === 'initial')
  const stays = now?.kind === 'backlog' || now?.kind === 'initial'
  return {
    kind: 'fresh',
    role,
    loses: parts.length === 0 ? null : parts.join(' and '),
    to: stays || !queue ? null : queue.label,
    refusal: task.roles[role] === undefined ? 'No one has worked on this yet.' : null,
  }
}
