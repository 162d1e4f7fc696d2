import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { TaskId } from '../../src-shared/contract/ids.ts'
import { isRefusal, notFound } from '../domain/refusal.ts'
import { isPerson } from '../domain/transition/audience.ts'
import type { TransitionPlan } from '../domain/transition/plan-transition.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { hasAsyncGuards, runPlanGuards, type MoveChecks } from './before-exit.ts'
import { decide, type Decision } from './decision.ts'
import type { StepServices } from '../steps/step-services.ts'
import { noteMergedWork } from '../transitions/review-attempts.ts'
import type { Moved } from '../transitions/transitions.ts'

export interface RequestedMove {
  readonly task_id: TaskId
  readonly status: string
  readonly version: number
  readonly reason: string | null
  readonly triggered_by: string
  /** The tree that the caller looked at. */
  readonly tree?: string | null
  /** The caller lands on a base whose checks fail. */
  readonly on_red?: boolean
}

/** Moves a task to the requested state after all checks and hooks that can refuse it. */
export async function requestMove(
  deps: StepServices,
  asked: RequestedMove,
  signal: AbortSignal,
): Promise<Moved | Refusal> {
  return moveAtOnce(deps, asked) ?? (await decide(deps.context, moveDecision(deps, asked, signal)))
}

/**
 * Makes a move without slow checks in one transaction. Returns null, having changed nothing, if there are slow
 * checks.
 */
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

/** Decides a move that has hooks, guards or a check of the work. */
function moveDecision(
  deps: StepServices,
  asked: RequestedMove,
  signal: AbortSignal,
): Decision<PlannedMove, MoveChecks, Moved> {
  const { transitions } = deps
  const { triggered_by } = asked
  const on_red = asked.on_red === true && isPerson(triggered_by)
  const seen = asked.tree ?? null
  return {
    plan: (q) => {
      const task = q.tasks.get(asked.task_id)
      if (!task) return notFound('task')
      const plan = transitions.plan(q, task, requestOf(asked))
      return isRefusal(plan) ? plan : { task, plan }
    },
    ask: ({ task, plan }) => {
      const seenWork = { seen, vouched: isPerson(triggered_by) ? seen : null, on_red }
      return runPlanGuards(deps, task, { plan, triggered_by }, signal, seenWork)
    },
    commit: (tx, { task, plan }, { hooks, work }) => {
      const moved = transitions.applyPlan(tx, task, { ...requestOf(asked), on_red, checked: hooks }, plan)
      if (work) noteMergedWork(tx, task, work, triggered_by)
      return moved
    },
  }
}

interface PlannedMove {
  readonly task: TaskRecord
  readonly plan: TransitionPlan
}

const requestOf = ({ status, version, reason, triggered_by }: RequestedMove) =>
  ({ to: status, cause: 'asked', triggered_by, version, reason }) as const
