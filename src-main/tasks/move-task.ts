import { BugError } from '../../src-shared/lang/bug-error.ts'
import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { ExecutionId, TaskId } from '../../src-shared/contract/ids.ts'
import { isRefusal } from '../domain/refusal.ts'
import { hasTrait } from '../domain/workflow/graph.ts'
import { awaitEntry, nameBarrier } from './await-entry.ts'
import type { ActionDeps, Actor, Outcome } from './action-services.ts'
import { requestMove, type RequestedMove } from './request-move.ts'
import { isMessage } from '../executions/messages.ts'

/**
 * Moves a task as a caller requested and starts the steps that follow. Into a state that merges it returns after the
 * merge; into one whose entry has only quick steps, after its barrier is cleared.
 */
export async function transition(
  deps: ActionDeps,
  request: Omit<RequestedMove, 'triggered_by'> & { readonly respond_async?: boolean },
  actor: Actor,
  signal: AbortSignal,
): Promise<Outcome | Refusal> {
  deps.landing.forgetEnd(request.task_id)
  const refusal = checkMessages(deps, request.task_id, actor)
  if (refusal) return refusal
  const result = await requestMove(deps, { ...request, triggered_by: actor.triggered_by }, signal)
  if (isRefusal(result)) return nameBarrier(deps, request.task_id, actor, result)
  const stopped = await stopSuperseded(deps, request.task_id, actor)
  // Nothing follows: the task is as the move left it.
  if (!result.plan.has_steps && stopped === 0) return { task: result.task, review: result.review }
  if (result.plan.has_steps) deps.worker.wake(request.task_id)
  const merges = hasTrait(result.plan.workflow, result.plan.to, 'merges')
  if (merges) return await awaitLanding(deps, request, result.review !== null)
  await awaitEntry(deps, result, signal)
  const now = currentOutcome(deps, request.task_id)
  return { task: now.task, review: result.review && now.review }
}

/** Waits until the landing of a task has ended; with `respond_async` only if its merge need not be tested. */
async function awaitLanding(
  deps: ActionDeps,
  { task_id, respond_async = false }: { readonly task_id: TaskId; readonly respond_async?: boolean },
  isReviewed: boolean,
): Promise<Outcome | Refusal> {
  const entered = deps.worker.waitUntilEntered(task_id).then(() => 'entered' as const)
  const unwatch = new AbortController()
  const deferred = deps.landing.untilDeferred(task_id, unwatch.signal).then(() => 'deferred' as const)
  const how = await Promise.race(respond_async ? [entered, deferred] : [entered])
  unwatch.abort()
  const now = currentOutcome(deps, task_id)
  const outcome = { task: now.task, review: isReviewed ? now.review : null }
  if (how === 'deferred') return { ...outcome, landing_deferred: true }
  const end = deps.landing.lastEnd(task_id)
  deps.landing.forgetEnd(task_id)
  if (end?.refusal) return end.refusal
  return end ? { ...outcome, landing: end.result } : outcome
}

/** Removes a task from its landing lane, and waits until it is back at its gate. */
export async function leaveLane(
  { landing, worker }: Pick<ActionDeps, 'landing' | 'worker'>,
  task_id: TaskId,
): Promise<boolean> {
  if (!landing.remove(task_id)) return false
  await worker.waitUntilDrained(task_id)
  return true
}

/** Refuses an agent's move while a person's message to it waits. */
function checkMessages({ context, executions }: ActionDeps, task_id: TaskId, actor: Actor): Refusal | null {
  const open = actor.agent_id === null ? [] : context.store.read.executions.openOfTask(task_id)
  const waits = open.some(
    (one) => isMessage(one) && one.agent_id === actor.agent_id && !executions.running().has(one.id),
  )
  if (!waits) return null
  const reason = 'A person sent you a message. End your turn now to read it, then move the task.'
  return { code: 'transition_blocked', message: reason, details: { hook: 'message', reason } }
}

export type CancelServices = Pick<ActionDeps, 'context' | 'hookQueue' | 'worker'>

/** Removes the pending steps of a task and waits until the running ones have ended. */
export async function cancelPendingWork(deps: CancelServices, task_id: TaskId): Promise<void> {
  deps.context.feed.commit((tx) => {
    tx.effects.removeOfTask(task_id)
  })
  deps.worker.interrupt(task_id)
  await Promise.all([deps.worker.waitUntilDrained(task_id), deps.hookQueue.end(task_id)])
}

/** Ends the runs that the move superseded and starts the steps that follow. Returns the task as the move left it. */
export async function finishMove(
  deps: ActionDeps,
  task_id: TaskId,
  actor: Actor,
  /** An execution that the move itself has queued. */
  next: ExecutionId | null = null,
): Promise<Outcome> {
  const outcome = currentOutcome(deps, task_id)
  await stopSuperseded(deps, task_id, actor, next)
  deps.worker.wake(task_id)
  return outcome
}

/**
 * Stops the task's executions that a move superseded. An agent that moves its own task may finish its turn: its
 * execution is excluded by ID too, because a fast agent may move before it is saved as running. Returns how many it stopped.
 */
async function stopSuperseded(
  deps: ActionDeps,
  task_id: TaskId,
  actor: Actor,
  next: ExecutionId | null = null,
): Promise<number> {
  deps.worker.interrupt(task_id)
  const others = deps.context.store.read.executions
    .openOfTask(task_id)
    .filter((one) => one.id !== actor.execution_id && one.id !== next)
    .filter((one) => one.status === 'queued' || one.agent_id === null || one.agent_id !== actor.agent_id)
    // Newest first, so that stopping one run does not let a newer one start.
    .toReversed()
  await Promise.all(others.map((one) => deps.executions.stop(one.id, 'cancelled')))
  return others.length
}

/** Returns the task as it is now, with its newest review. */
export function currentOutcome(deps: ActionDeps, task_id: TaskId): Outcome {
  const { read } = deps.context.store
  const task = read.tasks.get(task_id)
  if (!task) throw new BugError(`Task ${task_id} is gone.`)
  return { task, review: read.reviews.latest(task_id) }
}
