import { z } from 'zod'
import type { Usage } from '../../../src-shared/contract/executions.ts'
import { isRecord } from '../agent/text.ts'

const count = z.number().min(0).nullish().catch(null)
const Tokens = z.looseObject({
  inputTokens: count,
  outputTokens: count,
  totalTokens: count,
  input_tokens: count,
  output_tokens: count,
})

/** Sums the usage of a run's turns, from all places where agents report it. */
export interface UsageCount {
  /** Adds the tokens of one model call, from the `_meta` of a chunk. */
  addOf(meta: unknown): void
  /** Records the session's total cost so far. */
  cost(cost: { readonly amount: number; readonly currency: string } | null): void
  /** Starts a run; `earlier` is the cost that earlier runs of the session reported. */
  begin(earlier?: number | null): void
  /** Returns usage of the turn since the last call, or null if there is none. */
  news(): Usage | null
  /** Takes the response to a prompt and returns the turn's remaining usage, or null if there is none. */
  endTurn(response: unknown): Usage | null
  /** Returns the usage of all turns. */
  total(): Usage | null
}

const nothing: Usage = { input_tokens: 0, output_tokens: 0, cost_usd: null }

/** Creates a count of zero. */
export function createUsageCount(): UsageCount {
  let chunks: TokenCount | null = null
  let total: Usage | null = null
  let spent: number | null = null
  let before = 0
  let owed: number | null = null
  let told: Usage = nothing

  /** Returns the part of the turn's sum that was not reported yet. */
  function untold(tokens: TokenCount | null, cost: number | null): Usage | null {
    const more = (kind: keyof TokenCount) => Math.max(0, (tokens?.[kind] ?? 0) - told[kind])
    const rest: Usage = {
      input_tokens: more('input_tokens'),
      output_tokens: more('output_tokens'),
      cost_usd: cost === null ? null : Math.max(0, cost - (told.cost_usd ?? 0)),
    }
    return rest.input_tokens + rest.output_tokens + (rest.cost_usd ?? 0) === 0 ? null : rest
  }
  /** An agent that does not know its model's price reports 0, which is no price. */
  const costOfTurn = () => (spent === null || spent <= before ? null : spent - before)
  return {
    addOf: (meta) => {
      chunks = add(chunks, isRecord(meta) ? tokensOf(meta['usage']) : null)
    },
    cost: (cost) => {
      if (cost?.currency !== 'USD') return
      spent = cost.amount
      // A total too small to include the earlier runs is this run's own.
      if (owed !== null && spent >= owed) before = owed
      owed = null
    },
    begin: (earlier = null) => {
      before = spent ?? 0
      owed = spent === null ? earlier : null
      chunks = null
      told = nothing
    },
    news: () => {
      const news = untold(chunks, costOfTurn())
      if (news === null) return null
      told = { ...(add(told, news) ?? news), cost_usd: costOfTurn() }
      return news
    },
    endTurn: (response) => {
      const tokens = tokensInAnswer(response) ?? chunks
      chunks = null
      const cost = costOfTurn()
      const rest = untold(tokens, cost)
      before = spent ?? 0
      told = nothing
      if (tokens === null && cost === null) return null
      const turn: Usage = { ...(tokens ?? { input_tokens: 0, output_tokens: 0 }), cost_usd: cost }
      const sum = add(total, turn) ?? turn
      total = { ...sum, cost_usd: cost === null ? (total?.cost_usd ?? null) : (total?.cost_usd ?? 0) + cost }
      return rest
    },
    total: () => total,
  }
}

type TokenCount = Pick<Usage, 'input_tokens' | 'output_tokens'>

function add(one: TokenCount | null, other: TokenCount | null): TokenCount | null {
  if (one === null || other === null) return one ?? other
  return {
    input_tokens: one.input_tokens + other.input_tokens,
    output_tokens: one.output_tokens + other.output_tokens,
  }
}

/** Newer agents report tokens in `usage`, others in `_meta.quota`. */
function tokensInAnswer(response: unknown): TokenCount | null {
  if (!isRecord(response)) return null
  const meta = isRecord(response['_meta']) ? response['_meta'] : {}
  const quota = isRecord(meta['quota']) ? meta['quota'] : {}
  return tokensOf(response['usage']) ?? tokensOf(quota['token_count'])
}

function tokensOf(value: unknown): TokenCount | null {
  const found = Tokens.safeParse(value)
  if (!found.success) return null
  const { data } = found
  const input = data.inputTokens ?? data.input_tokens ?? 0
  const output = data.outputTokens ?? data.output_tokens ?? 0
  // Cached tokens are input too; not every agent counts them as input.
  return {
    input_tokens: Math.round(Math.max(input, (data.totalTokens ?? 0) - output)),
    output_tokens: Math.round(output),
  }
}
