import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { TaskId } from '../../src-shared/contract/ids.ts'
import { isRefusal, notFound } from '../domain/refusal.ts'
import { isPerson } from '../domain/transition/audience.ts'
import { runMoveGuards, hasAsyncGuards } from './before-exit.ts'
import type { StepServices } from '../steps/step-services.ts'
import { noteMergedWork } from '../transitions/review-attempts.ts'
import type { Moved } from '../transitions/transitions.ts'

export interface RequestedMove {
  readonly task_id: TaskId
  readonly status: string
  readonly version: number
  readonly reason: string | null
  readonly triggered_by: string
  /** The tree of the work that the caller looked at. */
  readonly tree?: string | null
}

/** Moves a task to the requested state, after every check and every hook that can refuse it. */
export async function requestMove(
  deps: StepServices,
  asked: RequestedMove,
  signal: AbortSignal,
): Promise<Moved | Refusal> {
  return moveAtOnce(deps, asked) ?? (await checkThenMove(deps, asked, signal))
}

/** The usual move, in one transaction. Answers null, and has changed nothing, where something slow has a say. */
function moveAtOnce(deps: StepServices, asked: RequestedMove): Moved | Refusal | null {
  const { context, transitions } = deps
  return context.feed.commit((tx) => {
    const task = tx.tasks.get(asked.task_id)
    if (!task) return notFound('task')
    const plan = transitions.plan(tx, task, requestOf(asked))
    if (isRefusal(plan)) return plan
    return (asked.tree ?? null) !== null || hasAsyncGuards(deps, plan, asked.triggered_by)
      ? null
      : transitions.applyPlan(tx, task, requestOf(asked), plan)
  })
}

async function checkThenMove(deps: StepServices, asked: RequestedMove, signal: AbortSignal): Promise<Moved | Refusal> {
  const { context, transitions } = deps
  const task = context.store.read.tasks.get(asked.task_id)
  if (!task) return notFound('task')
  const seen = asked.tree ?? null
  const said = { seen, vouched: isPerson(asked.triggered_by) ? seen : null }
  const checks = await runMoveGuards(deps, task, requestOf(asked), signal, said)
  if (isRefusal(checks)) return checks
  return context.feed.commit((tx) => {
    const current = tx.tasks.get(asked.task_id)
    if (!current) return notFound('task')
    const moved = transitions.apply(tx, current, { ...requestOf(asked), checked: checks.hooks })
    if (!isRefusal(moved) && checks.work) noteMergedWork(tx, current, checks.work, asked.triggered_by)
    return moved
  })
}

const requestOf = ({ status, version, reason, triggered_by }: RequestedMove) =>
  ({ to: status, cause: 'asked', triggered_by, version, reason }) as const
