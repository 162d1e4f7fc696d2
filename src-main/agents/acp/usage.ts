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

/** Adds up what the turns of a run cost, wherever an agent tells it. */
export interface UsageCount {
  /** The tokens of one model call, in the `_meta` of a chunk. */
  addOf(meta: unknown): void
  /** What the session has cost so far. */
  cost(cost: { readonly amount: number; readonly currency: string } | null): void
  /** What was spent before belongs to earlier runs of the session, which have told that they cost `earlier`. */
  begin(earlier?: number | null): void
  /** What the turn has used that was not asked for before; null when that is nothing. */
  news(): Usage | null
  /** The answer to a prompt: what its turn cost beyond that. null when nothing more was told. */
  endTurn(response: unknown): Usage | null
  /** Of all turns together. */
  total(): Usage | null
}

const nothing: Usage = { input_tokens: 0, output_tokens: 0, cost_usd: null }

/** Begins with nothing. */
export function createUsageCount(): UsageCount {
  let chunks: TokenCount | null = null
  let total: Usage | null = null
  let spent: number | null = null
  let before = 0
  let owed: number | null = null
  let told: Usage = nothing

  /** What of the turn's sum was not told yet. */
  function untold(tokens: TokenCount | null, cost: number | null): Usage | null {
    const more = (kind: keyof TokenCount) => Math.max(0, (tokens?.[kind] ?? 0) - told[kind])
    const rest: Usage = {
      input_tokens: more('input_tokens'),
      output_tokens: more('output_tokens'),
      cost_usd: cost === null ? null : Math.max(0, cost - (told.cost_usd ?? 0)),
    }
    return rest.input_tokens + rest.output_tokens + (rest.cost_usd ?? 0) === 0 ? null : rest
  }
  /** An agent that knows no price of its model tells 0: that is no price. */
  const costOfTurn = () => (spent === null || spent <= before ? null : spent - before)
  return {
    addOf: (meta) => {
      chunks = add(chunks, isRecord(meta) ? tokensOf(meta['usage']) : null)
    },
    cost: (cost) => {
      if (cost?.currency !== 'USD') return
      spent = cost.amount
      // A total that can't hold the earlier runs is this run's own.
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

/** `usage` is where newer agents tell it, `_meta.quota` where others do. */
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
  // What came from a cache is input too; not everybody counts it as such.
  return {
    input_tokens: Math.round(Math.max(input, (data.totalTokens ?? 0) - output)),
    output_tokens: Math.round(output),
  }
}
