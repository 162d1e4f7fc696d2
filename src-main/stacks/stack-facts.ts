import type { Ground } from '../core/ground.ts'
import type { TargetMover } from '../ports/target-mover.ts'
import type { TaskId } from '../../src-shared/contract/ids.ts'
import { lowerTask, rootBranch, landsOn } from '../core/stack-of.ts'
import type { LowerTask } from '../core/stack-of.ts'
import { isRefusal } from '../domain/refusal.ts'
import { planRestack, type RestackFacts } from './rules/stack.ts'
import type { RestackResult } from '../ports/branch-updater.ts'
import type { StackPlace } from '../ports/stack-place.ts'
import type { Queries } from '../ports/store.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { WorkspaceRecord } from '../ports/workspace-queries.ts'
import type { StepServices } from '../steps/step-services.ts'
import { workspaceOwner } from '../core/workspace-of.ts'
import type { ActionDeps } from '../tasks/action-services.ts'
import type { Actions } from '../tasks/actions.ts'
import { checkBranchChange } from '../tasks/update-branch.ts'

export interface StackDeps extends StepServices, Pick<ActionDeps, 'worker'> {
  readonly context: Ground & { readonly target: Pick<TargetMover, 'tip' | 'finishMerges'> }
  readonly actions: Pick<Actions, 'feedback'>
  /** Hears of a branch that was brought along, or lies where it should. */
  readonly onBrought: (task_id: TaskId) => void
}

export interface StackedBranch {
  readonly task: TaskRecord
  readonly workspace: WorkspaceRecord
  readonly lower: LowerTask | null
}

/** Returns a task whose branch is to be brought along, if that can begin now. */
export function findStackedBranch(deps: StackDeps, id: TaskId): StackedBranch | null {
  const { read } = deps.context.store
  const task = read.tasks.get(id)
  const workspace = task && read.workspaces.byTask(id)
  if (!task || !workspace) return null
  const lower = lowerTask(read, deps.transitions.workflowOf(read, task), task)
  const change = checkBranchChange(deps, id)
  const cause = isRefusal(change) ? change.code : null
  const isGone = cause === 'not_claimable' || workspaceOwner(read, task).id !== id
  const facts: RestackFacts = {
    upper: {
      has_branch: !isGone,
      is_over: task.archived || cause === 'task_terminal',
      is_busy: cause !== null || read.executions.openOfTask(id).length > 0,
      lies_on: workspace.stack?.on ?? null,
    },
    lower: lower && { id: lower.task.id, phase: lower.phase, has_branch: lower.workspace !== null },
  }
  return planRestack(facts).kind === 'bring' ? { task, workspace, lower } : null
}

export interface BranchPlace {
  readonly on: TaskId | null
  /** The branch that it is to lie on. */
  readonly onto_branch: string
  /** The branch that it lands on at last. */
  readonly base_branch: string
}

export interface BroughtBranch extends StackedBranch {
  readonly place: BranchPlace
  readonly result: RestackResult
}

export function placeOf(q: Queries, { task, workspace, lower }: StackedBranch): BranchPlace {
  const base_branch = rootBranch(q, task) ?? landsOn(workspace)
  return { on: lower?.task.id ?? null, onto_branch: lower?.workspace?.branch ?? base_branch, base_branch }
}

export const onBase = (base_branch: string): StackPlace => ({
  on: null,
  base_branch,
  conflict: null,
  trouble: null,
  untested: null,
  moving: null,
})

export function patchStack({ feed }: StackDeps['context'], task_id: TaskId, patch: Partial<StackPlace>): void {
  feed.commit((tx) => {
    const record = tx.workspaces.byTask(task_id)
    if (record) tx.workspaces.put({ ...record, stack: { ...(record.stack ?? onBase(record.base_branch)), ...patch } })
  })
}
