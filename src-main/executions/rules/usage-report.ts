import type { Usage, UsageReport } from '../../../src-shared/contract/executions.ts'
import type { ModelPrice } from '../../../src-shared/contract/limits.ts'
import { costOf } from './limits.ts'

/**
 * Returns a run's usage after another report of its total. No figure decreases. A reported cost takes precedence over
 * one computed by `priceOf` from the model; unknown values are null.
 */
export function addUsageReport(
  known: Usage | null,
  report: UsageReport,
  { model: configured, priceOf }: { readonly model: string | null; priceOf: (model: string) => ModelPrice | null },
): Usage {
  const larger = (one: number | null | undefined, other: number | undefined) =>
    one == null ? other : Math.max(one, other ?? 0)
  const model = report.model ?? known?.model
  const tokens = {
    input_tokens: larger(known?.input_tokens, report.input_tokens) ?? null,
    output_tokens: larger(known?.output_tokens, report.output_tokens) ?? null,
  }
  const turns = larger(known?.turns, report.turns)
  const base = {
    ...tokens,
    ...(turns != null && { turns }),
    ...(model !== undefined && { model }),
  }
  const before = known?.cost_usd ?? null
  const named = known?.estimated === true ? null : before
  const told = report.cost_usd ?? null
  if (told !== null || named !== null) return { ...base, cost_usd: Math.max(told ?? 0, named ?? 0) }
  const price = priceOf(model ?? configured ?? '')
  const [input_tokens, output_tokens] = [tokens.input_tokens ?? 0, tokens.output_tokens ?? 0]
  const estimate =
    price === null || input_tokens + output_tokens === 0 ? null : costOf({ input_tokens, output_tokens }, price)
  if (estimate === null && before === null) return { ...base, cost_usd: null }
  return { ...base, cost_usd: Math.max(estimate ?? 0, before ?? 0), estimated: true }
}
