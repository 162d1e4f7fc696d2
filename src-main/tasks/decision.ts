import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { Ground } from '../core/ground.ts'
import type { Tx } from '../core/event-feed.ts'
import { isRefusal } from '../domain/refusal.ts'
import type { Queries } from '../ports/store.ts'

/**
 * A request of a person or an agent that hooks or git can refuse. For example a verdict: `plan` finds the gate and
 * refuses if the task has left it, `ask` reads which tree is there now, and `commit` writes the verdict about that
 * tree. `plan` runs again in the transaction, with what `ask` found, because the task may have left its gate in
 * between.
 */
export interface Decision<Plan extends object, Findings extends object, Result extends object> {
  /** Applies the rules to the stored data, and to the findings once they are known. */
  plan(q: Queries, findings: Findings | null): Plan | Refusal
  /** Runs the slow checks (hooks, git). Writes nothing. */
  ask(plan: Plan): Promise<Findings | Refusal>
  /** Writes the plan; if it returns a refusal, it must have written nothing. */
  commit(tx: Tx, plan: Plan, findings: Findings): Result | Refusal
}

/**
 * Plans, runs the slow checks, and plans again in the transaction that writes, because the stored data may have changed
 * during the checks.
 */
export async function decide<Plan extends object, Findings extends object, Result extends object>(
  { feed, store }: Pick<Ground, 'feed' | 'store'>,
  decision: Decision<Plan, Findings, Result>,
): Promise<Result | Refusal> {
  const findings = await findOut(store.read, decision)
  return isRefusal(findings) ? findings : feed.commit((tx) => commitDecision(tx, decision, findings))
}

/** The part of `decide` before its transaction, for a decision that is part of another. */
export async function findOut<Plan extends object, Findings extends object, Result extends object>(
  q: Queries,
  decision: Decision<Plan, Findings, Result>,
): Promise<Findings | Refusal> {
  const plan = decision.plan(q, null)
  return isRefusal(plan) ? plan : await decision.ask(plan)
}

/** The part of `decide` in its transaction. */
export function commitDecision<Plan extends object, Findings extends object, Result extends object>(
  tx: Tx,
  decision: Decision<Plan, Findings, Result>,
  findings: Findings,
): Result | Refusal {
  const plan = decision.plan(tx, findings)
  return isRefusal(plan) ? plan : decision.commit(tx, plan, findings)
}
