import { sumTokens } from '../../formatters/format-amounts.ts'
import type { Execution } from '../../../src-shared/contract/executions.ts'
import type { TransitionEntry } from '../../../src-shared/contract/tasks.ts'
import type { WorkflowDefinition } from '../../../src-shared/contract/workflow-definition.ts'

/** Returns the time in each state, in workflow order. The last state counts up to `now`. */
export function timeInStates(
  entries: readonly TransitionEntry[],
  created_at: string,
  status: string,
  workflow: WorkflowDefinition,
  now: number,
): { state: string; ms: number }[] {
  const total = new Map<string, number>()
  let since = Date.parse(created_at)
  const add = (state: string, until: number) => {
    total.set(state, (total.get(state) ?? 0) + Math.max(0, until - since))
    since = until
  }
  for (const entry of entries) add(entry.from_state, Date.parse(entry.created_at))
  const current = workflow.states.find((state) => state.name === status)
  if (current?.kind !== 'terminal') add(status, now)
  return workflow.states.flatMap((state) => {
    const ms = total.get(state.name)
    return ms === undefined ? [] : [{ state: state.name, ms }]
  })
}

/** The usage of runs; `cost_usd` is null if no run has a price. */
export interface RunSum {
  readonly runs: number
  readonly tokens: number
  readonly cost_usd: number | null
}

/** Returns the usage per role and assignee, in the order of their first runs. */
export function runSums(executions: readonly Execution[], nameOf: (execution: Execution) => string) {
  const begun = executions
    .filter(({ started_at }) => started_at !== null)
    .sort((a, b) => (a.created_at < b.created_at ? -1 : 1))
  const groups = Map.groupBy(begun, (one) => JSON.stringify([one.role, nameOf(one)]))
  return [...groups.values()].flatMap((all) => {
    const [first] = all
    return first ? [{ role: first.role, name: nameOf(first), ...sumOf(all) }] : []
  })
}

/** Returns the total usage. */
export function sumOf(executions: readonly Execution[]): RunSum {
  const used = executions.flatMap(({ usage }) => usage ?? [])
  const costs = used.flatMap(({ cost_usd }) => cost_usd ?? [])
  return {
    runs: executions.filter(({ started_at }) => started_at !== null).length,
    tokens: used.reduce((sum, one) => sum + (sumTokens(one) ?? 0), 0),
    cost_usd: costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0),
  }
}
