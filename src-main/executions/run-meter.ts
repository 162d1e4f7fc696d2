import type { TranscriptEntry, Usage } from '../../src-shared/contract/executions.ts'
import type { ModelPrice } from '../../src-shared/contract/limits.ts'
import { findPrice } from '../../src-shared/contract/list-prices.ts'
import { costOf } from '../domain/task/limits.ts'

/** Adds up what a run uses while it runs. */
export interface RunMeter {
  add(entry: TranscriptEntry): void
  /** null: nothing is known of what it cost. */
  usd(): number | null
  /** Requests to the model, as far as the agent shows them. */
  turns(): number
  /** What the run has used, by the agent's own word at its end and what was told before that. */
  usage(told: Usage | null): Usage | null
}

/**
 * Creates a meter. A cost that the agent tells counts for everything before it; what it has told no cost of yet is
 * estimated by `prices`.
 */
export function createRunMeter(model: string | null, prices: Readonly<Record<string, ModelPrice>>): RunMeter {
  let told: number | null = null
  let estimate: number | null = null
  let turns = 0
  let current = model
  return {
    add: (entry) => {
      if (entry.type !== 'usage') return
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
    usd: () => (told === null && estimate === null ? null : (told ?? 0) + (estimate ?? 0)),
    turns: () => turns,
    usage: (end) => {
      if (end === null) return null
      const known = end.cost_usd
      const guess = known === null ? sumOf(told, estimate) : null
      return {
        ...end,
        cost_usd: known ?? guess,
        ...(guess !== null && { estimated: true }),
        ...(turns > 0 && { turns }),
        ...(current !== null && current !== model && { model: current }),
      }
    },
  }
}

const sumOf = (one: number | null, other: number | null): number | null =>
  one === null && other === null ? null : (one ?? 0) + (other ?? 0)
