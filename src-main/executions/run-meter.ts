import type { TranscriptEntry, Usage } from '../../src-shared/contract/executions.ts'
import { findPrice } from '../../src-shared/contract/find-price.ts'
import type { ModelPrice } from '../../src-shared/contract/limits.ts'
import { costOf } from './rules/limits.ts'

/** Sums up what a run uses while it runs. */
export interface RunMeter {
  add(entry: TranscriptEntry): void
  /** Returns the cost, with that of requests whose figures are assumed; null: unknown. */
  usd(): number | null
  /** Returns whether some requests are not in the cost, or assumed. */
  isIncomplete(): boolean
  /** Requests to the model, as far as the agent reports them. */
  turns(): number
  /** Returns the usage of the run: the agent's own report at its end, combined with earlier reports. */
  usage(told: Usage | null): Usage | null
}

type UsageEntry = Extract<TranscriptEntry, { type: 'usage' }>

/**
 * Creates a meter. A cost that the agent reports covers everything before it; later usage is estimated by `prices`.
 * Reported tokens replace those that were assumed before, unless they are of the last request only.
 */
export function createRunMeter(model: string | null, prices: Readonly<Record<string, ModelPrice>>): RunMeter {
  const tokens = { input_tokens: 0, output_tokens: 0 }
  let hasUsage = false
  /** The tokens of some requests are unknown. */
  let hasGap = false
  /** The cost of some requests is not in the sum. */
  let hasCostGap = false
  let told: number | null = null
  let estimate: number | null = null
  let assumed: number | null = null
  let turns = 0
  let current = model
  const usd = () => {
    const known = [told, estimate, assumed].filter((cost) => cost !== null)
    return known.length === 0 ? null : known.reduce((sum, cost) => sum + cost, 0)
  }
  const isIncomplete = () => assumed !== null || (hasCostGap && usd() !== null)
  const priced = (entry: UsageEntry): number | null => {
    const price = current === null ? null : findPrice(current, prices)
    return price && costOf(entry, price.price)
  }
  const assume = (entry: UsageEntry): void => {
    hasGap = true
    const cost = priced(entry)
    if (cost === null) hasCostGap = true
    else assumed = (assumed ?? 0) + cost
  }
  const count = (entry: UsageEntry): void => {
    const hasTokens = entry.input_tokens + entry.output_tokens > 0
    tokens.input_tokens += entry.input_tokens
    tokens.output_tokens += entry.output_tokens
    if (entry.cost_usd !== null) {
      told = (told ?? 0) + entry.cost_usd
      estimate = assumed = null
      hasCostGap = false
    } else if (hasTokens) {
      const cost = priced(entry)
      if (entry.partial !== true) {
        assumed = null
        hasCostGap = false
      }
      if (cost === null) hasCostGap = true
      else estimate = (estimate ?? 0) + cost
    }
    if (hasTokens && entry.partial !== true) hasGap = false
  }
  return {
    add: (entry) => {
      if (entry.type !== 'usage') return
      hasUsage = true
      turns += entry.turns ?? 0
      current = entry.model ?? current
      if (entry.assumed === true) assume(entry)
      else count(entry)
    },
    usd,
    isIncomplete,
    turns: () => turns,
    usage: (end) => {
      if (end === null && !hasUsage) return null
      const { input_tokens = null, output_tokens = null, cost_usd: named = null, ...more } = end ?? {}
      const sum = usd()
      // An agent that was stopped during a turn has reported more than its final sum contains.
      const isEstimated = (estimate ?? 0) + (assumed ?? 0) > 0 && (named === null || named < (sum ?? 0))
      const costs = [named, sum].filter((cost) => cost !== null)
      const isMissing = isIncomplete() && (named === null || named < (sum ?? 0))
      return {
        ...more,
        // The tokens of some requests are no sum of the run.
        ...(hasGap
          ? { input_tokens: null, output_tokens: null }
          : {
              input_tokens: tokensOf(input_tokens, tokens.input_tokens, tokens.output_tokens > 0),
              output_tokens: tokensOf(output_tokens, tokens.output_tokens, tokens.input_tokens > 0),
            }),
        cost_usd: costs.length === 0 ? null : Math.max(...costs),
        ...(isEstimated && { estimated: true }),
        ...(isMissing && { incomplete: true }),
        ...(turns > 0 && { turns }),
        ...(current !== null && current !== model && { model: current }),
      }
    },
  }
}

/** Returns the larger figure; null if neither the end nor the entries told any. */
function tokensOf(atEnd: number | null, soFar: number, hasOther: boolean): number | null {
  return atEnd === null && soFar === 0 && !hasOther ? null : Math.max(atEnd ?? 0, soFar)
}
