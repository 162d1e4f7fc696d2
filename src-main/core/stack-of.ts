import { below, openBelow, type StackPhase } from '../domain/task/stack.ts'
import type { Workflow } from '../domain/workflow/graph.ts'
import type { StackPlace } from '../ports/stack-place.ts'
import type { Queries, RepoRecord, TaskRecord, WorkspaceRecord } from '../ports/store.ts'
import { refOf } from './views.ts'
import { workspaceOf } from './workspace-of.ts'

type Reads = Pick<Queries, 'tasks' | 'workspaces'>

/** The task below another in a stack, as long as it has neither landed nor been given up. */
export interface LowerTask {
  readonly task: TaskRecord
  /** `SHO-42`. */
  readonly ref: string
  readonly phase: Extract<StackPhase, 'open' | 'submitted'>
  /** Its workspace, once its branch exists. */
  readonly workspace: WorkspaceRecord | null
}

/** Returns the task on whose branch another is to lie; null for the base branch. */
export function lowerTask(
  q: Reads & Pick<Queries, 'projects'>,
  workflow: Workflow,
  task: Pick<TaskRecord, 'id' | 'stacked_on'>,
): LowerTask | null {
  if (task.stacked_on === null) return null
  const found = openBelow(workflow, task, q.tasks.get)
  if (!found) return null
  const workspace = workspaceOf(q, found.task)
  const isMade = workspace !== null && workspace.base_commit !== null
  return { ...found, ref: refOf(q, found.task), workspace: isMade ? workspace : null }
}

/** Where a branch that begins now begins, or one that is brought along goes. */
export type StackBase = Pick<WorkspaceRecord, 'base_branch' | 'repo_path'> & { readonly stack: StackPlace | null }

/** Returns the base of a task's branch: the branch of the task below it, else the one that the stack lands on. */
export function stackBase(
  q: Reads & Pick<Queries, 'projects'>,
  workflow: Workflow,
  task: Pick<TaskRecord, 'id' | 'stacked_on'>,
  repo: RepoRecord,
): StackBase {
  const none = { conflict: null, untested: null, moving: null }
  const root = rootBranch(q, task) ?? repo.default_branch
  const lower = lowerTask(q, workflow, task)
  if (!lower?.workspace) return { base_branch: root, repo_path: repo.path, stack: null }
  const { branch, repo_path } = lower.workspace
  return { base_branch: branch, repo_path, stack: { ...none, on: lower.task.id, base_branch: root } }
}

/** Returns the branch that a stack lands on, as the nearest task below that has a branch says; null where none has. */
export function rootBranch(q: Reads, task: Pick<TaskRecord, 'id' | 'stacked_on'>): string | null {
  for (const lower of below(task, q.tasks.get)) {
    const workspace = workspaceOf(q, lower)
    if (workspace) return landsOn(workspace)
  }
  const own = q.workspaces.byTask(task.id)
  return own === null || own.stack === null ? null : landsOn(own)
}

/** Returns the branch that a task's work lands on at last. */
export const landsOn = ({ stack, base_branch }: Pick<WorkspaceRecord, 'stack' | 'base_branch'>): string =>
  stack !== null && stack.on !== null ? stack.base_branch : base_branch
