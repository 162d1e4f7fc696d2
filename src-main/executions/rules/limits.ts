import type { AgentConfig } from '../../../src-shared/contract/projects.ts'
import { limitAmount, limitScope, type LimitName } from '../../../src-shared/contract/limit-names.ts'
import type { Limits, LimitUse, ModelPrice } from '../../../src-shared/contract/limits.ts'
import type { Refusal } from '../../../src-shared/contract/errors.ts'
import type { ErrorAnnotation } from '../../../src-shared/contract/tasks.ts'

/** Amounts spent in one scope. `unknown`: the cost of some runs is unknown. */
export interface Spent {
  readonly usd: number | null
  readonly minutes: number
  readonly unknown: boolean
}

export interface LimitFacts {
  readonly limits: Limits | null
  readonly agent: AgentConfig['limits']
  readonly raises: Readonly<Partial<Record<LimitName, number>>>
  readonly run: Spent & { readonly turns: number | null }
  readonly task: Spent
  readonly day: Spent
  readonly agent_day: Spent
}

/** A limit that was reached. */
export interface ReachedLimit {
  readonly limit: LimitName
  readonly allowed: number
  readonly spent: number
}

type Row = readonly [LimitName, number | null | undefined, number | null, boolean]

/** Returns how far each applicable limit is used. */
export function usesOf({ limits, agent, raises, run, task, day, agent_day }: LimitFacts): LimitUse[] {
  const rows: readonly Row[] = [
    ['per_run.usd', limits?.per_run?.usd, run.usd, run.unknown],
    ['per_run.minutes', limits?.per_run?.minutes, run.minutes, false],
    ['per_run.turns', limits?.per_run?.turns, run.turns, false],
    ['per_task.usd', limits?.per_task?.usd, task.usd, task.unknown],
    ['per_task.minutes', limits?.per_task?.minutes, task.minutes, false],
    ['per_day.usd', limits?.per_day?.usd, day.usd, day.unknown],
    ['per_day.minutes', limits?.per_day?.minutes, day.minutes, false],
    ['agent_per_day.usd', agent?.per_day?.usd, agent_day.usd, agent_day.unknown],
    ['agent_per_day.minutes', agent?.per_day?.minutes, agent_day.minutes, false],
  ]
  return rows.flatMap(([limit, set, spent, incomplete]) => {
    if (set === null || set === undefined) return []
    const raise = raises[limit]
    return [
      { limit, allowed: Math.max(set, raise ?? 0), spent, incomplete, raised: raise !== undefined && raise > set },
    ]
  })
}

/** Returns whether any limit is about money. */
export const hasMoneyLimit = (limits: Limits | null, agent: AgentConfig['limits']): boolean =>
  [limits?.per_run, limits?.per_task, limits?.per_day, agent?.per_day].some((scope) => scope?.usd != null)

/** Returns whether the number of requests of a run is limited. */
export const hasTurnLimit = (limits: Limits | null): boolean => limits?.per_run?.turns != null

/** Returns the first limit that is reached. */
export function findReached(uses: readonly LimitUse[]): ReachedLimit | null {
  const found = uses.find(({ spent, allowed }) => spent !== null && spent >= allowed)
  return found ? { limit: found.limit, allowed: found.allowed, spent: found.spent ?? 0 } : null
}

const sentence = ({ limit, allowed, spent }: ReachedLimit): string =>
  `Reached the limit of ${limitAmount(limit, allowed)} for ${limitScope(limit)} (${limitAmount(limit, spent)} used).`

/** Creates the refusal of a run that would start beyond a limit. */
export const limitRefusal = (reached: ReachedLimit): Refusal => ({
  code: 'limit_reached',
  message: `${sentence(reached)} An owner raises it for this task with raise_limit; then claim again${reached.limit.includes('per_day') ? ', or wait until tomorrow' : ''}.`,
  details: { ...reached },
})

/** Creates the annotation of a task whose run a limit ended or prevented. */
export const limitAnnotation = (reached: ReachedLimit): ErrorAnnotation => ({
  type: 'limit_reached',
  message: `${sentence(reached)} The work is kept. Raise the limit to continue in the same session.`,
  recovery_actions: ['raise_limit', 'retry_execution'],
  ...reached,
})

export interface PricedTokens {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cached_tokens?: number | undefined
  readonly cache_write_tokens?: number | undefined
}

/** Returns the cost of tokens by a price list, in US dollars. */
export function costOf(tokens: PricedTokens, price: ModelPrice): number {
  const { input_tokens, output_tokens } = tokens
  const cached = Math.min(tokens.cached_tokens ?? 0, input_tokens)
  const written = Math.min(tokens.cache_write_tokens ?? 0, input_tokens - cached)
  const { input_usd_per_mtok: input, output_usd_per_mtok: output } = price
  const { cached_usd_per_mtok: cache = input, cache_write_usd_per_mtok: write = input } = price
  const ofInput = (input_tokens - cached - written) * input + cached * cache + written * write
  return (ofInput + output_tokens * output) / 1_000_000
}

/** What a request counts for whose agent tells no figures of it: more than most requests of coding agents use. */
export const assumedRequest = { input_tokens: 20_000, output_tokens: 500 } as const
