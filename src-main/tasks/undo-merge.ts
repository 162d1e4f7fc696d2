import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { Tx } from '../core/event-feed.ts'
import { undoMinutes } from '../core/views.ts'
import { isRefusal, notFound } from '../domain/refusal.ts'
import { isDone } from '../domain/workflow/graph.ts'
import type { LandingGround } from '../landing/landing-ground.ts'
import { patchMerge } from '../landing/merge-records.ts'
import { targetDirty } from '../landing/target-dirty.ts'
import { createKeyedLock } from '../platform/locks/keyed-lock.ts'
import { settleOrAbort } from '../platform/locks/settle-or-abort.ts'
import type { Queries } from '../ports/store.ts'
import type { UndoneMerge } from '../ports/target-mover.ts'
import type { MergeRecord, TaskRecord } from '../ports/task-queries.ts'
import { WorkspaceError } from '../ports/workspace-error.ts'
import type { WorkspaceRecord } from '../ports/workspace-queries.ts'
import type { ActionDeps, Actor, Outcome } from './action-services.ts'
import { gateOf } from './gate-of-merge.ts'
import { currentOutcome, finishMove } from './move-task.ts'
import { revertMerge, type RevertMergeRequest } from './revert-merge.ts'

/** The ways back from a merge: the base branch moves back and the task to its gate, or another task reverts it. */
export interface MergeUndo {
  /** Returns once the task is at its gate and its worktree is there again. */
  undo(task_id: TaskId, actor: Actor, signal: AbortSignal): Promise<Outcome | Refusal>
  /** Creates a task that reverts the merge of another. */
  revert(request: RevertMergeRequest, actor: Actor, signal: AbortSignal): Promise<TaskRecord | Refusal>
  /** Finishes what a killed service left: tasks whose base has moved back return to their gate. */
  recover(): Promise<void>
}

type Deps = Omit<ActionDeps, 'context'> & { readonly context: ActionDeps['context'] & LandingGround }
/** What recovery has by the time that it runs. */
type BasicDeps = Pick<Deps, 'context' | 'transitions'>

export function createMergeUndo(deps: Deps): MergeUndo {
  const { context } = deps
  // The second of two who undo at once is told that it is undone.
  const perTask = createKeyedLock()
  return {
    undo: (task_id, actor, signal) => perTask.run(task_id, () => undo(deps, task_id, actor, signal)),
    revert: (request, actor, signal) => revertMerge(deps, request, actor, signal),
    recover: async () => {
      for (const task_id of context.store.read.tasks.undoingMerge()) await settleUndo(deps, task_id)
    },
  }
}

async function undo(deps: Deps, task_id: TaskId, actor: Actor, signal: AbortSignal): Promise<Outcome | Refusal> {
  const { context, worker } = deps
  // The clean-up after the merge may be under way.
  await settleOrAbort(worker.waitUntilEntered(task_id), signal)
  const plan = planUndo(deps, context.store.read, task_id)
  if (isRefusal(plan)) return plan
  const { merge, workspace } = plan
  const { repo_path, branch } = workspace
  patchMerge(context, task_id, { ...merge, undo: { by: actor.triggered_by } })
  let undone: UndoneMerge
  try {
    // What has begun is finished: half of an undo would leave a done task without its work.
    const options = { signal: new AbortController().signal }
    undone = await context.target.undoMerge({ repo_path, branch, task_id, ...merge }, options)
  } catch (error) {
    if (!(await settleUndo(deps, task_id))) throw error
    undone = { kind: 'moved' }
  }
  if (undone.kind !== 'moved') {
    patchMerge(context, task_id, merge)
    return await refusalOf(context, plan, undone)
  }
  context.feed.commit((tx) => returnToGate(deps, tx, task_id))
  if (context.store.read.tasks.get(task_id) === null) return notFound('task')
  await finishMove(deps, task_id, actor)
  await settleOrAbort(worker.waitForStep(task_id, 'clear_barrier'), signal)
  return currentOutcome(deps, task_id)
}

interface UndoPlan {
  readonly merge: MergeRecord
  readonly workspace: WorkspaceRecord
}

/** Checks what the database knows: that there is a merge, that it is young, and that a gate leads to it. */
function planUndo({ context, transitions }: Deps, q: Queries, id: TaskId): UndoPlan | Refusal {
  const task = q.tasks.get(id)
  if (!task) return notFound('task')
  const workflow = transitions.workflowOf(q, task)
  const workspace = q.workspaces.byTask(id)
  const { merge } = task
  if (!isDone(workflow, task.status) || merge === null || merge.merged_at === null || !workspace) {
    const cameBack = workflow.states.get(q.transitions.last(id)?.from_state ?? '')?.kind === 'terminal'
    return cameBack
      ? tooLate('undone', 'This merge has been undone already.')
      : tooLate('none', 'This task has no merge to undo.')
  }
  if (task.archived) return { code: 'invalid_transition', message: 'The task is archived. Unarchive it first.' }
  const gate = gateOf(q, workflow, task)
  if (gate === null)
    return tooLate('none', `The workflow has no way back from ${task.status}. Revert the merge instead.`)
  if (context.clock.now() > Date.parse(merge.merged_at) + undoMinutes * 60_000)
    return tooLate('time', `This was merged more than ${undoMinutes} minutes ago. Revert it instead.`)
  return { merge, workspace }
}

type Reason = 'none' | 'undone' | 'time' | 'newer' | 'pushed' | 'work_gone'

const tooLate = (reason: Reason, message: string): Refusal => ({
  code: 'unmerge_too_late',
  message,
  details: { reason },
})

async function refusalOf(
  context: LandingGround,
  { merge: { base_branch }, workspace }: UndoPlan,
  undone: Exclude<UndoneMerge, { kind: 'moved' }>,
): Promise<Refusal> {
  switch (undone.kind) {
    case 'newer':
      return tooLate('newer', `${base_branch} has changed since this merge. Revert it instead.`)
    case 'pushed':
      return tooLate('pushed', `${undone.ref} has this merge already. Revert it instead.`)
    case 'work_gone':
      return tooLate('work_gone', "The task's branch is gone. Revert the merge instead.")
    case 'dirty':
      return await targetDirty(context, { ...workspace, base_branch }, undone.files, 'undo the merge again')
    case 'not_moved':
      return { code: 'workspace_failed', message: `${base_branch} could not be moved back. ${undone.why}`.trim() }
  }
}

/**
 * Ends an undo of which it is not known whether the base has moved: completes it if it has, forgets it otherwise.
 * Returns whether it had moved.
 */
async function settleUndo(deps: BasicDeps, task_id: TaskId): Promise<boolean> {
  const { context } = deps
  const { read } = context.store
  const task = read.tasks.get(task_id)
  const merge = task?.merge ?? null
  const workspace = read.workspaces.byTask(task_id)
  if (!task || merge === null || merge.undo === null) return false
  try {
    const { signal } = new AbortController()
    const { to, base_branch } = merge
    const isThere =
      workspace !== null && (await context.target.hasCommit(workspace.repo_path, base_branch, to, { signal }))
    if (isThere || workspace === null) {
      patchMerge(context, task_id, { ...merge, undo: null })
      return false
    }
  } catch (error) {
    if (!(error instanceof WorkspaceError)) throw error
    context.log.warn({ err: error, task_id }, 'it could not be seen whether a merge was undone')
    return false
  }
  context.feed.commit((tx) => returnToGate(deps, tx, task_id))
  return true
}

/** Moves the task back to its gate, passed as it was. Does nothing if that has been done. */
function returnToGate({ context, transitions }: BasicDeps, tx: Tx, task_id: TaskId): void {
  const task = tx.tasks.get(task_id)
  if (!task || task.merge === null) return
  const gate = gateOf(tx, transitions.workflowOf(tx, task), task)
  const moved =
    gate === null
      ? null
      : transitions.apply(tx, task, {
          to: gate,
          cause: 'unmerge',
          triggered_by: task.merge.undo?.by ?? 'system',
          version: null,
          reason: `The merge ${task.merge.to.slice(0, 12)} into ${task.merge.base_branch} was undone.`,
          checked: [],
          patch: { merge: null },
        })
  if (moved !== null && !isRefusal(moved)) return
  // The workflow was edited, so that no gate is left.
  context.log.warn({ task_id }, 'a task whose merge was undone could not return to its gate')
  tx.saveTask({ ...task, merge: null })
}
