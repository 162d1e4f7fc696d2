import type { TranscriptEntry, Usage } from '../../src-shared/contract/executions.ts'
import type { ModelPrice } from '../../src-shared/contract/limits.ts'
import { findPrice } from '../../src-shared/contract/list-prices.ts'
import { costOf } from '../domain/task/limits.ts'

/** Sums up what a run uses while it runs. */
export interface RunMeter {
  add(entry: TranscriptEntry): void
  /** null: the cost is unknown. */
  usd(): number | null
  /** Requests to the model, as far as the agent reports them. */
  turns(): number
  /** Returns the usage of the run: the agent's own report at its end, combined with earlier reports. */
  usage(told: Usage | null): Usage | null
}

/** Creates a meter. A cost that the agent reports covers everything before it; later usage is estimated by `prices`. */
export function createRunMeter(model: string | null, prices: Readonly<Record<string, ModelPrice>>): RunMeter {
  const tokens = { input_tokens: 0, output_tokens: 0 }
  let hasUsage = false
  let told: number | null = null
  let estimate: number | null = null
  let turns = 0
  let current = model
  const usd = () => (told === null && estimate === null ? null : (told ?? 0) + (estimate ?? 0))
  return {
    add: (entry) => {
      if (entry.type !== 'usage') return
      hasUsage = true
      tokens.input_tokens += entry.input_tokens
      tokens.output_tokens += entry.output_tokens
      turns += entry.turns ?? 0
      current = entry.model ?? current
      if (entry.cost_usd !== null) {
        told = (told ?? 0) + entry.cost_usd
        estimate = null
        return
      }
      const price = current === null ? null : findPrice(current, prices)
      if (price !== null) estimate = (estimate ?? 0) + costOf({ ...entry, cached_tokens: entry.cached_tokens }, price)
    },
    usd,
    turns: () => turns,
    usage: (end) => {
      if (end === null && !hasUsage) return null
      const { input_tokens = 0, output_tokens = 0, cost_usd: named = null, ...more } = end ?? {}
      // An agent that was stopped during a turn has reported more than its final sum contains.
      const isEstimated = (estimate ?? 0) > 0 && (named === null || named < (usd() ?? 0))
      const costs = [named, usd()].filter((cost) => cost !== null)
      return {
        ...more,
        input_tokens: Math.max(input_tokens, tokens.input_tokens),
        output_tokens: Math.max(output_tokens, tokens.output_tokens),
        cost_usd: costs.length === 0 ? null : Math.max(...costs),
        ...(isEstimated && { estimated: true }),
        ...(turns > 0 && { turns }),
        ...(current !== null && current !== model && { model: current }),
      }
    },
  }
}
