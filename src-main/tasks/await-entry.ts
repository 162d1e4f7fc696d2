import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { TaskId } from '../../src-shared/contract/ids.ts'
import { isOfStep } from './rules/clear-annotation.ts'
import { stepsOf, type Step } from '../domain/transition/phases.ts'
import { settleOrAbort } from '../platform/locks/settle-or-abort.ts'
import type { Moved } from '../transitions/transitions.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { hookHas, type Workflow } from '../domain/workflow/graph.ts'
import type { ActionDeps, Actor } from './action-services.ts'

/**
 * Waits until the barrier of a move is cleared if only quick steps precede that. The barrier stays while a run of the
 * task continues, so a call from within that run returns at once.
 */
export async function awaitEntry(
  deps: ActionDeps,
  { task, plan }: Pick<Moved, 'task' | 'plan'>,
  signal: AbortSignal,
): Promise<void> {
  if (!plan.barrier || isAtWork(deps, task.id)) return
  const steps = plan.own_steps ?? stepsOf(plan.workflow, plan.from.name, plan.to.name)
  const behind = steps.slice(
    0,
    steps.findIndex(({ kind }) => kind === 'clear_barrier'),
  )
  if (!behind.every((step) => isQuick(deps, plan.workflow, task, step))) return
  await settleOrAbort(deps.worker.waitForStep(task.id, 'clear_barrier'), signal)
}

function isAtWork({ executions }: ActionDeps, task_id: TaskId): boolean {
  return (
    executions.isWorktreeShared(task_id) ||
    [...executions.running().values()].some((run) => run.record.task_id === task_id)
  )
}

/**
 * Returns whether a step takes no noticeable time: an existing worktree is only checked, and a gate without CI steps
 * runs nothing.
 */
function isQuick({ worktrees }: ActionDeps, workflow: Workflow, task: TaskRecord, step: Step): boolean {
  if (step.kind === 'workspace') return worktrees.of(task)?.status === 'ready'
  if (step.kind !== 'hook' || step.hook.script !== undefined) return false
  return !hookHas(workflow, step.hook, 'makes_gate') || task.review_config.ci_steps.length === 0
}

/**
 * Adds to the refusal what the barrier waits for: a person, if a step blocks the task, or the run that moved the task
 * here, which may be the caller's own.
 */
export function nameBarrier(deps: ActionDeps, task_id: TaskId, actor: Actor, refusal: Refusal): Refusal {
  if (refusal.code !== 'entry_barrier') return refusal
  const held = deps.context.store.read.tasks.get(task_id)?.error_annotation
  if (held && isOfStep(held)) return { ...refusal, message: held.message }
  const run = [...deps.executions.running().values()].find(({ record }) => record.task_id === task_id)
  if (!run) return refusal
  const { id } = run.record
  const message =
    id === actor.execution_id
      ? 'The task continues when your run has ended. End your turn now.'
      : `The task waits for the run that moved it here (${id}) to end. Wait for that too, or stop the run.`
  return { ...refusal, message, details: { ...refusal.details, execution_id: id } }
}
