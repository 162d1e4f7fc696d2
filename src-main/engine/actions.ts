import { BugError } from '../../src-shared/lang/bug-error.ts'
import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { AgentId, ExecutionId, TaskId } from '../../src-shared/contract/ids.ts'
import type { Assignee, RecoveryAction, TaskMove } from '../../src-shared/contract/tasks.ts'
import { listMoves } from '../domain/transition/list-moves.ts'
import { isRefusal } from '../domain/transition/plan-transition.ts'
import { hasPlugin } from '../domain/workflow/graph.ts'
import { moveAsAsked } from './asked-move.ts'
import type { Claims } from './claims.ts'
import type { Cleanup } from './cleanup.ts'
import { nowIso } from './context.ts'
import type { EffectWorker } from './effects.ts'
import type { Executions } from './executions.ts'
import { sendFeedback, type FeedbackRequest, type FollowUp } from './follow-up.ts'
import type { StepDeps } from './perform-step.ts'
import { checkRecovery, mergeStateFrom, runAgain } from './recovery-actions.ts'
import { giveVerdict, type VerdictRequest } from './reviews.ts'
import { assignRole, resetAfterReassign, type RoleRequest } from './roles.ts'
import type { Scheduler } from './scheduler.ts'
import type { ReviewRecord, TaskRecord, WorkspaceRecord } from './store-port.ts'
import { toTask } from './views.ts'

/** Who asks: the audit's name for them, and the agent where it is one. */
export interface Actor {
  readonly triggered_by: string
  readonly agent_id: AgentId | null
}

export interface Outcome {
  readonly task: TaskRecord
  readonly review: ReviewRecord | null
}

/** What people and agents can ask of a task, beside claiming it. Each answers when its commit is made. */
export interface Actions {
  /** Into a state that merges, it answers after the merge. */
  transition(
    request: { task_id: TaskId; status: string; version: number; reason: string | null },
    actor: Actor,
    signal: AbortSignal,
  ): Promise<Outcome | Refusal>
  verdict(request: VerdictRequest, actor: Actor): Promise<Outcome | Refusal>
  cancel(task_id: TaskId, actor: Actor): Promise<Outcome | Refusal>
  /** Answers once what ran for a coder that is replaced is gone and the resets that were asked for are done. */
  assignRole(request: Omit<RoleRequest, 'triggered_by'>, actor: Actor): Promise<Outcome | Refusal>
  recover(
    request: { task_id: TaskId; action: RecoveryAction },
    actor: Actor,
    signal: AbortSignal,
  ): Promise<Outcome | Refusal>
  resetWorkspace(
    task_id: TaskId,
    signal: AbortSignal,
  ): Promise<{ task: TaskRecord; workspace: WorkspaceRecord } | Refusal>
  /** Sends comments and words back to whoever does the work. */
  feedback(request: FeedbackRequest, signal: AbortSignal): Promise<FollowUp | Refusal>
  stop(execution_id: ExecutionId): Promise<void>
  remove(task_id: TaskId, signal: AbortSignal): Promise<Refusal | null>
  moves(task: TaskRecord, actor: Actor, claimant: Assignee | null): readonly TaskMove[]
}

export interface ActionDeps {
  readonly steps: StepDeps
  readonly worker: EffectWorker
  readonly executions: Executions
  readonly scheduler: Scheduler
  readonly claims: Claims
  readonly cleanup: Cleanup
}

const noTask: Refusal = { code: 'not_found', message: 'There is no such task.', details: { resource: 'task' } }

export function createActions(deps: ActionDeps): Actions {
  const { context, transitions } = deps.steps
  const { read } = context.store
  const { feed } = context
  return {
    transition: (request, actor, signal) => transition(deps, request, actor, signal),
    verdict: async (request, actor) => {
      const refusal = feed.commit((tx) => giveVerdict(deps.steps, tx, request))
      return refusal ?? afterMove(deps, request.task_id, actor)
    },
    cancel: async (task_id, actor) => {
      const result = feed.commit((tx) => {
        const task = tx.tasks.get(task_id)
        if (!task) return noTask
        const to = transitions.workflowOf(tx, task).cancellation?.name
        if (to === undefined)
          return {
            code: 'invalid_transition',
            message: 'The workflow of this project has no state for cancelled tasks.',
          } as const
        const { triggered_by } = actor
        return transitions.apply(tx, task, {
          to,
          cause: 'cancel',
          triggered_by,
          version: null,
          reason: null,
          patch: { active_execution_id: null },
        })
      })
      return isRefusal(result) ? result : afterMove(deps, task_id, actor)
    },
    assignRole: async (request, actor) => {
      const result = feed.commit((tx) => assignRole(deps.steps, tx, { ...request, triggered_by: actor.triggered_by }))
      if (isRefusal(result)) return result
      if (result.moved) await afterMove(deps, request.task_id, actor)
      await resetAfterReassign(deps.steps, request.task_id, request)
      return outcomeOf(deps, request.task_id)
    },
    recover: (request, actor, signal) => recoverTask(deps, request, actor, signal),
    resetWorkspace: (task_id, signal) => resetWorkspace(deps, task_id, signal),
    feedback: async (request, signal) => {
      const sent = await sendFeedback(deps.steps, request, signal)
      if (isRefusal(sent)) return sent
      if (sent.moved) deps.worker.interrupt(request.task_id)
      deps.worker.wake(request.task_id)
      deps.scheduler.pump()
      return sent
    },
    stop: (execution_id) => deps.executions.stop(execution_id, 'stopped'),
    remove: async (task_id, signal) => {
      const task = read.tasks.get(task_id)
      if (!task) return noTask
      if (read.executions.openOfTask(task_id).length > 0) {
        return { code: 'already_claimed', message: 'Somebody is at work on this task. Stop the execution first.' }
      }
      await abandon(deps, task_id)
      const workspace = read.workspaces.byTask(task_id)
      if (workspace && workspace.status !== 'cleaned') await deps.cleanup.remove(workspace, signal)
      feed.commit((tx) => {
        tx.tasks.delete(task_id)
        tx.emit('task.deleted', { project_id: task.project_id, task_id })
      })
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
        roles: task.roles,
        triggered_by: actor.triggered_by,
        claim: claimant
          ? deps.claims.preview(read, task, claimant)
          : { code: 'not_claimable', message: 'There is no agent yet. Add one first.' },
      }),
  }
}

async function transition(
  deps: ActionDeps,
  request: Parameters<Actions['transition']>[0],
  actor: Actor,
  signal: AbortSignal,
): Promise<Outcome | Refusal> {
  const result = await moveAsAsked(deps.steps, { ...request, triggered_by: actor.triggered_by }, signal)
  if (isRefusal(result)) return result
  await endOthers(deps, request.task_id, actor)
  if (result.plan.has_steps) deps.worker.wake(request.task_id)
  const merges = hasPlugin(result.plan.to, 'run_merge')
  if (merges) await deps.worker.settled(request.task_id)
  return { task: merges ? outcomeOf(deps, request.task_id).task : result.task, review: result.review }
}

/** Drops what a task has still to do, and waits for what is under way to give up. */
export async function abandon(deps: Pick<ActionDeps, 'steps' | 'worker'>, task_id: TaskId): Promise<void> {
  deps.steps.context.feed.commit((tx) => {
    tx.effects.removeOfTask(task_id)
  })
  deps.worker.interrupt(task_id)
  await deps.worker.settled(task_id)
}

/** Ends what the move overtook, and takes up what follows from it. Answers the task as the move left it. */
async function afterMove(deps: ActionDeps, task_id: TaskId, actor: Actor): Promise<Outcome> {
  const outcome = outcomeOf(deps, task_id)
  await endOthers(deps, task_id, actor)
  deps.worker.wake(task_id)
  return outcome
}

/** What a person or another agent started is theirs no more: it ends. An agent that moves its own task may finish its sentence. */
async function endOthers(deps: ActionDeps, task_id: TaskId, actor: Actor): Promise<void> {
  deps.worker.interrupt(task_id)
  const others = deps.steps.context.store.read.executions
    .openOfTask(task_id)
    .filter((one) => one.agent_id === null || one.agent_id !== actor.agent_id)
  await Promise.all(others.map((one) => deps.executions.stop(one.id, 'cancelled')))
}

function outcomeOf(deps: ActionDeps, task_id: TaskId): Outcome {
  const { read } = deps.steps.context.store
  const task = read.tasks.get(task_id)
  if (!task) throw new BugError(`Task ${task_id} is gone.`)
  return { task, review: read.reviews.latest(task_id) }
}

async function recoverTask(
  deps: ActionDeps,
  request: { task_id: TaskId; action: RecoveryAction },
  actor: Actor,
  signal: AbortSignal,
): Promise<Outcome | Refusal> {
  const { context } = deps.steps
  const task = context.store.read.tasks.get(request.task_id)
  if (!task) return noTask
  const refusal = checkRecovery(task, request.action)
  if (refusal) return refusal
  if (request.action === 'retry_merge') {
    const status = mergeStateFrom(deps.steps, context.store.read, task)
    if (status === null) return { code: 'recovery_not_available', message: 'The workflow leads from here to no merge.' }
    return transition(deps, { task_id: task.id, status, version: task.version, reason: 'retry_merge' }, actor, signal)
  }
  if (request.action === 'retry_hook') return retryHook(deps, task)
  const again = context.feed.commit((tx) => runAgain(deps.steps, tx, task, request.action === 'resume'))
  if (typeof again === 'object') return again
  if (again === 'queued') {
    deps.scheduler.pump()
    return outcomeOf(deps, task.id)
  }
  const claimant = Object.values(task.roles).find((one) => one.type === 'agent') ?? Object.values(task.roles)[0]
  if (!claimant) return { code: 'recovery_not_available', message: 'Nobody has a role in this task. Claim it anew.' }
  const claimed = await deps.claims.claim(
    { task_id: task.id, claimant, triggered_by: actor.triggered_by, overrides: {}, recovers: true },
    signal,
  )
  return isRefusal(claimed) ? claimed : outcomeOf(deps, task.id)
}

/** The step that broke is still to be done: with its error taken away it is taken up again. */
function retryHook(deps: ActionDeps, task: TaskRecord): Outcome {
  const { context } = deps.steps
  context.feed.commit((tx) => {
    const cleared = { ...task, error_annotation: null, updated_at: nowIso(context) }
    tx.tasks.put(cleared)
    tx.emit('task.updated', { project_id: task.project_id, task_id: task.id, task: toTask(tx, cleared) })
  })
  deps.worker.wake(task.id)
  return outcomeOf(deps, task.id)
}

async function resetWorkspace(
  deps: ActionDeps,
  task_id: TaskId,
  signal: AbortSignal,
): Promise<{ task: TaskRecord; workspace: WorkspaceRecord } | Refusal> {
  const { context, worktrees } = deps.steps
  const task = context.store.read.tasks.get(task_id)
  if (!task) return noTask
  if (task.error_annotation?.type !== 'workspace_reset_required') {
    return { code: 'reset_not_required', message: 'The workspace of this task is in order; there is nothing to reset.' }
  }
  const ensured = await worktrees.ensure(task, signal)
  if (ensured.kind !== 'ready') {
    return {
      code: 'reset_not_required',
      message: ensured.kind === 'failed' ? ensured.message : 'The workspace could not be made.',
    }
  }
  const reset = context.feed.commit((tx) => {
    const current = tx.tasks.get(task_id) ?? task
    const cleared: TaskRecord = {
      ...current,
      error_annotation: null,
      active_execution_id: null,
      updated_at: nowIso(context),
    }
    tx.tasks.put(cleared)
    tx.emit('task.updated', { project_id: task.project_id, task_id, task: toTask(tx, cleared) })
    return cleared
  })
  return { task: reset, workspace: ensured.workspace }
}
