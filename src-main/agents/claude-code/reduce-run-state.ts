import type { Usage } from '../../../src-shared/contract/executions.ts'
import type { AccountWindow } from '../../../src-shared/contract/accounts.ts'
import { resetTime, toWindow } from './account.ts'
import { blocksOf, isSynthetic } from './stream-events.ts'
import type {
  AssistantEvent,
  RateLimitEvent,
  ResultEvent,
  StreamEvent,
  StreamPartEvent,
  Tokens,
} from './stream-events.ts'

/** The state of a run after the events so far. */
export interface RunState {
  readonly session_id: string | null
  readonly cwd: string | null
  /** Sums over all turns of this process; null until a turn has ended. */
  readonly usage: Usage | null
  /** Usage of earlier runs of the session; null if this run starts it. */
  readonly earlier: Usage | null
  /** Usage of the turn's model calls so far; the turn's own sum at its end replaces it. */
  readonly spent: TokenCount
  /** The latest model call of the agent (`''`) and of each sub-agent; a call's events repeat its sum. */
  readonly open: Readonly<Record<string, ModelCall>>
  /** The model of the latest call. */
  readonly model: string | null
  /** Number of model calls of the run so far. */
  readonly calls: number
  /** The agent called a tool. */
  readonly acted: boolean
  /** The latest message, unless a tool call followed it. */
  readonly finalMessage: string | null
  /** The latest message, whatever followed it. */
  readonly lastMessage: string | null
  /** The latest API error without a success after it. */
  readonly api_error: { readonly kind: string; readonly text: string } | null
  readonly rate_limit_rejected: boolean
  /** The model server rejected the credentials. */
  readonly unauthorized: boolean
  /** When the exceeded limit resets. */
  readonly resets_at: string | null
  /** Windows of the account, by name. */
  readonly windows: Readonly<Record<string, AccountWindow>>
  /** The result of the last turn; null while a turn runs. */
  readonly result: RunResult | null
}

interface TokenCount {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cached_tokens: number
  readonly cache_write_tokens: number
}

interface ModelCall {
  readonly id: string
  readonly tokens: TokenCount
}

export interface RunResult {
  readonly failed: boolean
  readonly subtype: string
  readonly text: string | null
  readonly api_error_status: number | null
}

const noTokens: TokenCount = { input_tokens: 0, output_tokens: 0, cached_tokens: 0, cache_write_tokens: 0 }

const noTokensTold = { input_tokens: null, output_tokens: null }

/** The state before the first event. */
export const initialRunState: RunState = {
  session_id: null,
  cwd: null,
  usage: null,
  earlier: null,
  spent: noTokens,
  open: {},
  model: null,
  calls: 0,
  acted: false,
  finalMessage: null,
  lastMessage: null,
  api_error: null,
  rate_limit_rejected: false,
  unauthorized: false,
  resets_at: null,
  windows: {},
  result: null,
}

/** Returns the state after one more event. */
export function reduceRunState(before: RunState, event: StreamEvent): RunState {
  const facts = { ...before, session_id: event.session_id ?? before.session_id }
  switch (event.type) {
    case 'system':
      if (event.subtype === 'api_retry') return { ...facts, unauthorized: event.error_status === 401 }
      return event.subtype === 'init' ? { ...facts, cwd: event.cwd ?? facts.cwd, result: null } : facts
    case 'assistant':
      return afterAssistant(facts, event)
    case 'user':
      return facts
    case 'stream_event':
      return { ...facts, ...afterPart(facts, event) }
    case 'rate_limit_event':
      return afterRateLimit(facts, event)
    case 'result':
      return {
        ...facts,
        usage: addUsage(facts, event),
        spent: noTokens,
        open: {},
        result: resultOf(event),
      }
  }
}

function afterRateLimit(facts: RunState, event: RateLimitEvent): RunState {
  const rejected = event.rate_limit_info.status === 'rejected'
  const window = toWindow(event)
  return {
    ...facts,
    rate_limit_rejected: rejected,
    resets_at: rejected ? resetTime(event.rate_limit_info.resetsAt) : null,
    windows: window === null ? facts.windows : { ...facts.windows, [window.name]: window },
  }
}

function afterAssistant(facts: RunState, event: AssistantEvent): RunState {
  const text = wordsOf(event)
  if (isSynthetic(event)) return { ...facts, api_error: text === '' ? null : { kind: event.error ?? 'unknown', text } }
  const acts = blocksOf(event).some((block) => isToolUse(block.type))
  // A sub-agent's messages are for the agent, not for people.
  const speaks = text !== '' && (event.parent_tool_use_id ?? null) === null
  return {
    ...facts,
    ...afterCall(facts, event),
    acted: facts.acted || acts,
    finalMessage: acts ? null : speaks ? text : facts.finalMessage,
    lastMessage: speaks ? text : facts.lastMessage,
    api_error: null,
    unauthorized: false,
  }
}

function addUsage({ usage: before, earlier }: RunState, event: ResultEvent): Usage {
  const tokens = tokensOf(event.usage)
  const output_tokens = (before?.output_tokens ?? 0) + tokens.output_tokens
  const isTold = before?.input_tokens != null || tokens.input_tokens + tokens.output_tokens > 0
  if (!isTold)
    return { ...noTokensTold, cost_usd: costOfRun(event, output_tokens, earlier) ?? before?.cost_usd ?? null }
  return {
    input_tokens: (before?.input_tokens ?? 0) + tokens.input_tokens,
    output_tokens,
    cost_usd: costOfRun(event, output_tokens, earlier) ?? before?.cost_usd ?? null,
  }
}

/**
 * Unlike the tokens, the cost is a running total, of the whole session if Claude Code continues the earlier run's
 * count. It does so only if no other session ran in the folder in between, so a total too small to include the
 * earlier runs is this run's own.
 */
function costOfRun(event: ResultEvent, output_tokens: number, earlier: Usage | null): number | null {
  const total = event.total_cost_usd ?? null
  const before = earlier?.cost_usd ?? null
  if (total === null || earlier === null || before === null || total < before) return total
  const counted = event.modelUsage
    ? Object.values(event.modelUsage).reduce((sum, model) => sum + (model.outputTokens ?? 0), 0)
    : null
  return counted !== null && counted < (earlier.output_tokens ?? 0) + output_tokens ? total : total - before
}

type Counted = Pick<RunState, 'spent' | 'open' | 'model' | 'calls'>

const afterCall = (facts: RunState, { message, parent_tool_use_id }: AssistantEvent): Partial<Counted> =>
  message.id === undefined || !message.usage ? {} : count(facts, parent_tool_use_id, message.id, message)

function afterPart(facts: RunState, { event, parent_tool_use_id }: StreamPartEvent): Partial<Counted> {
  if (event.type === 'message_start') return count(facts, parent_tool_use_id, event.message.id, event.message)
  const open = facts.open[parent_tool_use_id ?? '']
  return open ? count(facts, parent_tool_use_id, open.id, event) : {}
}

/** Adds what a model call has used since its last event. Calls of sub-agents come between the agent's own. */
function count(
  { spent, open, model, calls }: RunState,
  parent: string | null | undefined,
  id: string,
  told: { readonly usage?: Tokens | null | undefined; readonly model?: string | undefined },
): Counted {
  const known = open[parent ?? '']
  const before = known?.id === id ? known.tokens : noTokens
  const now = tokensOf(told.usage)
  const each = (take: (kind: keyof TokenCount) => number): TokenCount => ({
    input_tokens: take('input_tokens'),
    output_tokens: take('output_tokens'),
    cached_tokens: take('cached_tokens'),
    cache_write_tokens: take('cache_write_tokens'),
  })
  // A later event may repeat the figures of the message's start.
  const tokens = each((kind) => Math.max(before[kind], now[kind]))
  return {
    spent: each((kind) => spent[kind] + tokens[kind] - before[kind]),
    open: { ...open, [parent ?? '']: { id, tokens } },
    model: told.model ?? model,
    calls: known?.id === id ? calls : calls + 1,
  }
}

/** Cached tokens are input too. */
function tokensOf(usage: Tokens | null | undefined): TokenCount {
  const input =
    (usage?.input_tokens ?? 0) + (usage?.cache_creation_input_tokens ?? 0) + (usage?.cache_read_input_tokens ?? 0)
  return {
    input_tokens: Math.round(input),
    output_tokens: Math.round(usage?.output_tokens ?? 0),
    cached_tokens: Math.round(usage?.cache_read_input_tokens ?? 0),
    cache_write_tokens: Math.round(usage?.cache_creation_input_tokens ?? 0),
  }
}

function resultOf(event: ResultEvent): RunResult {
  const text = event.errors?.join('\n') ?? event.result ?? null
  return {
    failed: event.is_error ?? event.subtype !== 'success',
    subtype: event.subtype,
    text: text === '' ? null : text,
    api_error_status: event.api_error_status ?? null,
  }
}

const wordsOf = (event: AssistantEvent): string =>
  blocksOf(event)
    .flatMap((block) => (block.type === 'text' && block.text !== undefined ? [block.text] : []))
    .join('\n')
    .trim()

/** `server_tool_use` is a tool that runs at the model's provider. */
export const isToolUse = (type: string): boolean => type === 'tool_use' || type === 'server_tool_use'
