import { hasOpenPull } from '../transitions/transitions.ts'
import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { ExecutionId, TaskId } from '../../src-shared/contract/ids.ts'
import type { Assignee, TaskMove } from '../../src-shared/contract/tasks.ts'
import { listMoves } from './rules/list-moves.ts'
import { isRefusal, notFound } from '../domain/refusal.ts'
import type { Tx } from '../core/event-feed.ts'
import { nameBarrier } from './await-entry.ts'
import type { FeedbackRequest } from './plan-follow-up.ts'
import { sendFeedback, type FollowUp } from './send-feedback.ts'
import { forgetFiles } from './attachments.ts'
import { forgetLogs } from '../core/forget-logs.ts'
import { editMessage } from '../executions/message-prompt.ts'
import type { ActionDeps, Actor, Outcome } from './action-services.ts'
import { cancelPendingWork, finishMove, leaveLane, currentOutcome, transition } from './move-task.ts'
import { recoverTask, resetWorkspace, type RecoveryRequest } from './recover-task.ts'
import { isDone } from '../domain/workflow/graph.ts'
import { withoutDeleted } from './ready-starts.ts'
import { decide } from './decision.ts'
import type { RequestedMove } from './request-move.ts'
import { verdictDecision, type VerdictRequest } from './give-verdict.ts'
import { assignRole, resetAfterReassign, type RoleRequest } from './roles.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import type { Queries } from '../ports/store.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { WorkspaceRecord } from '../ports/workspace-queries.ts'
import { toTask } from '../core/views.ts'
import { othersInWorkspace, workspaceOwner } from '../core/workspace-of.ts'

type TransitionRequest = Omit<RequestedMove, 'triggered_by'> & { readonly respond_async?: boolean }

/** The actions that people and agents can request for a task, except claims. Each returns after its commit. */
export interface Actions {
  /** Moves a task. Into a state that merges, it returns after the merge. */
  transition(request: TransitionRequest, actor: Actor, signal: AbortSignal): Promise<Outcome | Refusal>
  verdict(request: VerdictRequest, actor: Actor, signal: AbortSignal): Promise<Outcome | Refusal>
  /** `beside` is committed with it. `reason`: why, where nobody asked for it. */
  cancel(
    task_id: TaskId,
    actor: Actor,
    more?: { readonly beside?: ((tx: Tx) => void) | undefined; readonly reason?: string },
  ): Promise<Outcome | Refusal>
  /** Assigns a role. Returns once the replaced coder's run has ended and the requested resets are done. */
  assignRole(request: Omit<RoleRequest, 'triggered_by'>, actor: Actor): Promise<Outcome | Refusal>
  recover(request: RecoveryRequest, actor: Actor, signal: AbortSignal): Promise<Outcome | Refusal>
  resetWorkspace(
    task_id: TaskId,
    signal: AbortSignal,
  ): Promise<{ task: TaskRecord; workspace: WorkspaceRecord } | Refusal>
  /** Sends comments and a message back to the holder of the working role. */
  feedback(request: FeedbackRequest, signal: AbortSignal): Promise<FollowUp | Refusal>
  /** Changes the text of a waiting message; refused once the agent has it. */
  editMessage(execution_id: ExecutionId, text: string): ExecutionRecord | Refusal
  stop(execution_id: ExecutionId): Promise<void>
  /** `first` comes before the task goes, and may refuse. */
  remove(task_id: TaskId, signal: AbortSignal, first?: () => Promise<Refusal | null>): Promise<Refusal | null>
  /** Removes a task from its landing lane; returns false if it is in none. */
  leaveLane(task_id: TaskId): Promise<boolean>
  moves(task: TaskRecord, actor: Actor, claimant: Assignee | null): readonly TaskMove[]
}

const workspaceInUse: Refusal = {
  code: 'workspace_locked',
  message: "A subtask is running in this task's worktree. Wait or stop it, then delete the task.",
}

export function createActions(deps: ActionDeps): Actions {
  const { context, transitions } = deps
  const { read } = context.store
  const { feed } = context
  return {
    transition: (request, actor, signal) => transition(deps, request, actor, signal),
    verdict: async (request, actor, signal) => {
      const judged = await decide(context, verdictDecision(deps, request, signal))
      if (isRefusal(judged)) return nameBarrier(deps, request.task_id, actor, judged)
      return await finishMove(deps, request.task_id, actor, judged.next)
    },
    cancel: async (task_id, actor, { beside, reason = null } = {}) => {
      const result = feed.commit((tx) => {
        const task = tx.tasks.get(task_id)
        if (!task) return notFound('task')
        const to = transitions.workflowOf(tx, task).cancellation?.name
        if (to === undefined)
          return {
            code: 'invalid_transition',
            message: 'The workflow of this project has no state for cancelled tasks.',
          } as const
        const { triggered_by } = actor
        const moved = transitions.apply(tx, task, {
          to,
          cause: 'cancel',
          triggered_by,
          version: null,
          reason,
          patch: { active_execution_id: null },
        })
        if (!isRefusal(moved)) beside?.(tx)
        return moved
      })
      return isRefusal(result) ? result : finishMove(deps, task_id, actor)
    },
    assignRole: async (request, actor) => {
      await leaveLane(deps, request.task_id)
      const result = feed.commit((tx) => assignRole(deps, tx, { ...request, triggered_by: actor.triggered_by }))
      if (isRefusal(result)) return result
      if (result.moved) await finishMove(deps, request.task_id, actor)
      await resetAfterReassign(deps, request.task_id, request)
      return currentOutcome(deps, request.task_id)
    },
    leaveLane: (task_id) => leaveLane(deps, task_id),
    recover: (request, actor, signal) => recoverTask(deps, request, actor, signal),
    resetWorkspace: (task_id, signal) => resetWorkspace(deps, task_id, signal),
    feedback: async (request, signal) => {
      const sent = await sendFeedback(deps, request, signal)
      if (isRefusal(sent)) return sent
      if (sent.moved) await stopReviewers(deps, request.task_id, sent.execution_id)
      deps.worker.wake(request.task_id)
      deps.scheduler.startQueued()
      return sent
    },
    editMessage: (execution_id, text) =>
      editMessage(context, execution_id, text, deps.executions.running().has(execution_id)),
    stop: (execution_id) => deps.executions.stop(execution_id, 'stopped'),
    remove: async (task_id, signal, first) => {
      await leaveLane(deps, task_id)
      const before = first && (checkRemoval(read, task_id) ?? (await first()))
      if (before) return before
      const refusal = checkRemoval(read, task_id)
      const task = read.tasks.get(task_id)
      if (refusal || !task) return refusal ?? notFound('task')
      await cancelPendingWork(deps, task_id)
      const workspace = read.workspaces.byTask(task_id)
      if (workspace && workspace.status !== 'cleaned') await deps.cleanup.remove(workspace, signal)
      const files = read.attachments.ofTask(task_id).map(({ sha256 }) => sha256)
      const wasDone = isDone(transitions.workflowOf(read, task), task.status)
      feed.commit((tx) => {
        removeTask(tx, task, wasDone)
      })
      await forgetLogs(context, [task_id])
      await forgetFiles(context, files)
      return null
    },
    moves: (task, actor, claimant) =>
      listMoves({
        workflow: transitions.workflowOf(read, task),
        status: task.status,
        version: task.version,
        entry_barrier: task.entry_barrier,
        archived: task.archived,
        latest_review: read.reviews.latest(task.id)?.status ?? null,
        pull_request_open: hasOpenPull(read, task),
        roles: task.roles,
        triggered_by: actor.triggered_by,
        claim: claimant
          ? deps.claims.preview(read, task, claimant)
          : { code: 'not_claimable', message: 'No agents yet. Add one first.' },
      }),
  }
}

function checkRemoval(read: Queries, task_id: TaskId): Refusal | null {
  const task = read.tasks.get(task_id)
  if (!task) return notFound('task')
  if (read.executions.openOfTask(task_id).length > 0) {
    return { code: 'already_claimed', message: 'Someone is working on this task. Stop the run first.' }
  }
  const isGuest = workspaceOwner(read, task).id !== task_id
  return !isGuest && othersInWorkspace(read, task).length > 0 ? workspaceInUse : null
}

/** Stops the task's reviewers, because the work goes back to its coder. */
async function stopReviewers(deps: ActionDeps, task_id: TaskId, coder: ExecutionId): Promise<void> {
  deps.worker.interrupt(task_id)
  const open = deps.context.store.read.executions.openOfTask(task_id)
  await Promise.all(open.filter(({ id }) => id !== coder).map(({ id }) => deps.executions.stop(id, 'cancelled')))
}

/**
 * Deletes a task. Its subtasks lose their parent and its dependents a dependency, so an event is emitted for each of
 * them.
 */
function removeTask(tx: Tx, removed: TaskRecord, wasDone: boolean): void {
  const { id: task_id, project_id } = removed
  for (const id of tx.dependencies.dependents(task_id)) {
    const waiting = tx.tasks.get(id)
    const left = waiting && withoutDeleted(waiting, removed, wasDone)
    if (left && left !== waiting) tx.saveTask(left)
  }
  // Those above it go on from what it lay on.
  const above = tx.tasks.stackedOn(task_id)
  for (const id of above) {
    const upper = tx.tasks.get(id)
    const isFreed = upper?.error_annotation?.stack === 'archived_below'
    if (upper) tx.tasks.put({ ...upper, stacked_on: removed.stacked_on, ...(isFreed && { error_annotation: null }) })
  }
  const touched = [
    ...above,
    ...tx.tasks.children(task_id).map((child) => child.id),
    ...tx.dependencies.dependents(task_id),
  ]
  tx.tasks.delete(task_id)
  tx.emit('task.deleted', { project_id, task_id })
  for (const id of new Set(touched)) {
    const task = tx.tasks.get(id)
    if (task) tx.emit('task.updated', { project_id, task_id: id, task: toTask(tx, task) })
  }
}
