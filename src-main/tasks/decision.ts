import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { EngineContext } from '../core/context.ts'
import type { Tx } from '../core/event-feed.ts'
import { isRefusal } from '../domain/refusal.ts'
import type { Queries } from '../ports/store.ts'

/** Something that a person or an agent asks for, where a hook or git has a say in it. */
export interface Decision<Plan extends object, Findings extends object, Result extends object> {
  /** What the rules say of what is stored, and of what was found once that is known. */
  plan(q: Queries, findings: Findings | null): Plan | Refusal
  /** Asks what takes time: hooks, git. Nothing is written yet. */
  ask(plan: Plan): Promise<Findings | Refusal>
  /** Writes what the plan says; a refusal must have written nothing. */
  commit(tx: Tx, plan: Plan, findings: Findings): Result | Refusal
}

/**
 * Plans, asks what takes time, and plans again in the transaction that writes it: what is stored may have changed while
 * something was asked.
 */
export async function decide<Plan extends object, Findings extends object, Result extends object>(
  { feed, store }: Pick<EngineContext, 'feed' | 'store'>,
  decision: Decision<Plan, Findings, Result>,
): Promise<Result | Refusal> {
  const findings = await findOut(store.read, decision)
  return isRefusal(findings) ? findings : feed.commit((tx) => commitDecision(tx, decision, findings))
}

/** The part of a decision before its transaction; for one that is part of another. */
export async function findOut<Plan extends object, Findings extends object, Result extends object>(
  q: Queries,
  decision: Decision<Plan, Findings, Result>,
): Promise<Findings | Refusal> {
  const plan = decision.plan(q, null)
  return isRefusal(plan) ? plan : await decision.ask(plan)
}

/** The part of a decision in its transaction. */
export function commitDecision<Plan extends object, Findings extends object, Result extends object>(
  tx: Tx,
  decision: Decision<Plan, Findings, Result>,
  findings: Findings,
): Result | Refusal {
  const plan = decision.plan(tx, findings)
  return isRefusal(plan) ? plan : decision.commit(tx, plan, findings)
}
