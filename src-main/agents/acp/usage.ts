import { z } from 'zod'
import type { TranscriptEntry, Usage } from '../../../src-shared/contract/executions.ts'
import { assumedRequest } from '../../executions/rules/limits.ts'
import { isRecord } from '../agent/text.ts'

const count = z.number().min(0).nullish().catch(null)
const Tokens = z.looseObject({
  inputTokens: count,
  outputTokens: count,
  totalTokens: count,
  input_tokens: count,
  output_tokens: count,
})

/** A transcript entry without its time. */
export type UsageNews = Omit<Extract<TranscriptEntry, { type: 'usage' }>, 'type' | 'at'>

/** Sums the usage of a run's turns, from all places where agents report it. */
export interface UsageCount {
  /** Adds the tokens of one model call, from the `_meta` of a chunk. */
  addOf(meta: unknown): void
  /** Records the session's total cost so far. */
  cost(cost: { readonly amount: number; readonly currency: string } | null): void
  /**
   * Records the tokens of the session's context, which agents tell before or after a model call, and the model. Returns
   * what `called` does, since a call may have no other output.
   */
  context(used: number | null, model: string | null): UsageNews | null
  /** Starts a run; `earlier` is the cost that earlier runs of the session reported. */
  begin(earlier?: number | null): void
  /** Records output of the model. Returns what the call before it counts for, if it told no figures. */
  called(): UsageNews | null
  /** Records that a tool has ended, so further output is that of another model call. */
  toolEnded(): void
  /** Returns usage of the turn since the last call, or null if there is none. */
  news(): UsageNews | null
  /** Takes the response to a prompt and returns the turn's remaining usage, or null if there is none. */
  endTurn(response: unknown): UsageNews | null
  /** Returns the usage of all turns. */
  total(): Usage | null
}

interface UsageOptions {
  /** The model at the start of the session, if the agent tells it. */
  readonly model?: () => string | null
  /** The response to a prompt has the tokens of the last model call only. */
  readonly tellsLastCall?: () => boolean
}

const nothing: TokenCount & { readonly cost_usd: number | null } = { input_tokens: 0, output_tokens: 0, cost_usd: null }

/** Creates a count of zero. */
export function createUsageCount({ model = () => null, tellsLastCall = () => false }: UsageOptions = {}): UsageCount {
  let chunks: TokenCount | null = null
  let total: Usage | null = null
  let spent: number | null = null
  let before = 0
  let owed: number | null = null
  let told = nothing
  /** Model calls of the turn, and how many of them no figures are known of yet. */
  let calls = 0
  let open = 0
  let isBetween = true
  /** The context was told, and nothing since. */
  let isQuiet = false
  let context: number | null = null
  let current: string | null = null

  const named = () => {
    const known = current ?? model()
    return known === null ? {} : { model: known }
  }
  /** Returns the part of the turn's sum that was not reported yet. */
  function untold(tokens: TokenCount | null, cost: number | null): UsageNews | null {
    const more = (kind: keyof TokenCount) => Math.max(0, (tokens?.[kind] ?? 0) - told[kind])
    const rest = {
      input_tokens: more('input_tokens'),
      output_tokens: more('output_tokens'),
      cost_usd: cost === null ? null : Math.max(0, cost - (told.cost_usd ?? 0)),
      ...named(),
    }
    return rest.input_tokens + rest.output_tokens + (rest.cost_usd ?? 0) === 0 ? null : rest
  }
  /** An agent that does not know its model's price reports 0, which is no price. */
  const costOfTurn = () => (spent === null || spent <= before ? null : spent - before)
  const startTurn = () => {
    chunks = null
    told = nothing
    calls = open = 0
    isBetween = true
    isQuiet = false
  }
  const called = (): UsageNews | null => {
    isQuiet = false
    if (!isBetween) return null
    isBetween = false
    calls += 1
    open += 1
    if (open < 2) return null
    open -= 1
    const input_tokens = Math.round(context ?? assumedRequest.input_tokens)
    const { output_tokens } = assumedRequest
    return { input_tokens, output_tokens, cost_usd: null, turns: 1, assumed: true, ...named() }
  }
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
    context: (used, known) => {
      context = used ?? context
      current = known ?? current
      if (used === null) return null
      isBetween ||= isQuiet
      const assumed = called()
      isQuiet = true
      return assumed
    },
    begin: (earlier = null) => {
      before = spent ?? 0
      owed = spent === null ? earlier : null
      startTurn()
    },
    called,
    toolEnded: () => {
      isBetween = true
      isQuiet = false
    },
    news: () => {
      const news = untold(chunks, costOfTurn())
      if (news === null) return null
      told = { ...(add(told, news) ?? nothing), cost_usd: costOfTurn() }
      // Token counts during a turn belong to one model call.
      const isCall = news.output_tokens > 0
      if (isCall) open = 0
      return { ...news, ...(isCall && { turns: 1 }) }
    },
    endTurn: (response) => {
      const atEnd = tokensInAnswer(response)
      const isLastCall = atEnd !== null && calls > 1 && tellsLastCall()
      const tokens = atEnd ?? chunks
      const cost = costOfTurn()
      const rest = untold(tokens, cost)
      const turns = open > 0 ? { turns: open } : {}
      before = spent ?? 0
      const isSum = tokens !== null && !isLastCall
      startTurn()
      if (tokens === null && cost === null) return null
      const turn = isSum ? tokens : { input_tokens: null, output_tokens: null }
      total = {
        input_tokens: sum(total, turn, 'input_tokens'),
        output_tokens: sum(total, turn, 'output_tokens'),
        cost_usd: cost === null ? (total?.cost_usd ?? null) : (total?.cost_usd ?? 0) + cost,
      }
      return rest && { ...rest, ...turns, ...(isLastCall && { partial: true }) }
    },
    total: () => total,
  }
}

interface TokenCount {
  readonly input_tokens: number
  readonly output_tokens: number
}

/** A turn whose tokens are unknown leaves the sum unknown. */
function sum(
  total: Usage | null,
  turn: Pick<Usage, 'input_tokens' | 'output_tokens'>,
  kind: keyof TokenCount,
): number | null {
  const [one, other] = [total === null ? 0 : total[kind], turn[kind]]
  return one === null || other === null ? null : one + other
}

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
  const tokens = {
    input_tokens: Math.round(Math.max(input, (data.totalTokens ?? 0) - output)),
    output_tokens: Math.round(output),
  }
  // Zero is what agents send that count nothing.
  return tokens.input_tokens + tokens.output_tokens === 0 ? null : tokens
}
