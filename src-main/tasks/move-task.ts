import { BugError } from '../../src-shared/lang/bug-error.ts'
import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { TaskId } from '../../src-shared/contract/ids.ts'
import { isRefusal } from '../domain/refusal.ts'
import { hasTrait } from '../domain/workflow/graph.ts'
import { awaitEntry, nameBarrier } from './await-entry.ts'
import type { ActionDeps, Actor, Outcome } from './action-services.ts'
import { requestMove, type RequestedMove } from './request-move.ts'
import { isMessage } from '../executions/messages.ts'

/**
 * Moves a task as somebody asked, and takes up what follows. Into a state that merges it answers after the merge; into
 * one whose entry has nothing to run, when its barrier is down.
 */
export async function transition(
  deps: ActionDeps,
  request: Omit<RequestedMove, 'triggered_by'>,
  actor: Actor,
  signal: AbortSignal,
): Promise<Outcome | Refusal> {
  const refusal = checkMessages(deps, request.task_id, actor)
  if (refusal) return refusal
  const result = await requestMove(deps, { ...request, triggered_by: actor.triggered_by }, signal)
  if (isRefusal(result)) return nameBarrier(deps, request.task_id, actor, result)
  await stopSuperseded(deps, request.task_id, actor)
  if (result.plan.has_steps) deps.worker.wake(request.task_id)
  const merges = hasTrait(result.plan.workflow, result.plan.to, 'merges')
  if (merges) await deps.worker.waitUntilEntered(request.task_id)
  else await awaitEntry(deps, result, signal)
  const now = outcomeOf(deps, request.task_id)
  return { task: now.task, review: result.review && now.review }
}

/** An agent does not move a task away from under what a person has written to it. */
function checkMessages({ context, executions }: ActionDeps, task_id: TaskId, actor: Actor): Refusal | null {
  const open = actor.agent_id === null ? [] : context.store.read.executions.openOfTask(task_id)
  const waits = open.some(
    (one) => isMessage(one) && one.agent_id === actor.agent_id && !executions.running().has(one.id),
  )
  if (!waits) return null
  const reason = 'A person has written to you. End your turn now: you are told next, and move the task afterwards.'
  return { code: 'transition_blocked', message: reason, details: { hook: 'message', reason } }
}

export type CancelServices = Pick<ActionDeps, 'context' | 'hookQueue' | 'worker'>

/** Drops what a task has still to do, and waits for what is under way to give up. */
export async function cancelPendingWork(deps: CancelServices, task_id: TaskId): Promise<void> {
  deps.context.feed.commit((tx) => {
    tx.effects.removeOfTask(task_id)
  })
  deps.worker.interrupt(task_id)
  await Promise.all([deps.worker.waitUntilDrained(task_id), deps.hookQueue.end(task_id)])
}

/** Ends what the move overtook, and takes up what follows from it. Answers the task as the move left it. */
export async function finishMove(deps: ActionDeps, task_id: TaskId, actor: Actor): Promise<Outcome> {
  const outcome = outcomeOf(deps, task_id)
  await stopSuperseded(deps, task_id, actor)
  deps.worker.wake(task_id)
  return outcome
}

/**
 * What a person or another agent started is theirs no more: it ends. An agent that moves its own task may finish its
 * sentence, when it has begun one: a quick one has before it is written down that it runs.
 */
async function stopSuperseded(deps: ActionDeps, task_id: TaskId, actor: Actor): Promise<void> {
  deps.worker.interrupt(task_id)
  const others = deps.context.store.read.executions
    .openOfTask(task_id)
    .filter((one) => one.id !== actor.execution_id)
    .filter((one) => one.status === 'queued' || one.agent_id === null || one.agent_id !== actor.agent_id)
    // Newest first: what waits behind one that ends must not start meanwhile.
    .toReversed()
  await Promise.all(others.map((one) => deps.executions.stop(one.id, 'cancelled')))
}

/** The task as it is now, with its newest review. */
export function outcomeOf(deps: ActionDeps, task_id: TaskId): Outcome {
  const { read } = deps.context.store
  const task = read.tasks.get(task_id)
  if (!task) throw new BugError(`Task ${task_id} is gone.`)
  return { task, review: read.reviews.latest(task_id) }
}
