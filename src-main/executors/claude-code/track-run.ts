import type { Usage } from '../../../src-shared/contract/executions.ts'
import { blocksOf, isSynthetic } from './stream-events.ts'
import type { AssistantEvent, ResultEvent, StreamEvent } from './stream-events.ts'

/** What is known of a run from the events so far. */
export interface RunFacts {
  readonly session_id: string | null
  readonly cwd: string | null
  /** Sums over all turns of this process; null until a turn has ended. */
  readonly usage: Usage | null
  /** It called a tool. */
  readonly acted: boolean
  /** Its latest words, when nothing was done after them. */
  readonly closing_words: string | null
  /** Its latest words, whatever came after them. */
  readonly last_words: string | null
  /** The latest API error that nothing good has followed. */
  readonly api_error: { readonly kind: string; readonly text: string } | null
  readonly rate_limit_rejected: boolean
  /** How its last turn ended; null while a turn runs. */
  readonly result: RunResult | null
}

export interface RunResult {
  readonly failed: boolean
  readonly subtype: string
  readonly text: string | null
  readonly api_error_status: number | null
}

/** Nothing has been heard yet. */
export const noFacts: RunFacts = {
  session_id: null,
  cwd: null,
  usage: null,
  acted: false,
  closing_words: null,
  last_words: null,
  api_error: null,
  rate_limit_rejected: false,
  result: null,
}

/** The facts after one more event. */
export function trackRun(before: RunFacts, event: StreamEvent): RunFacts {
  const facts = { ...before, session_id: event.session_id ?? before.session_id }
  switch (event.type) {
    case 'system':
      return event.subtype === 'init' ? { ...facts, cwd: event.cwd ?? facts.cwd, result: null } : facts
    case 'assistant':
      return afterAssistant(facts, event)
    case 'user':
      return facts
    case 'rate_limit_event':
      return { ...facts, rate_limit_rejected: event.rate_limit_info.status === 'rejected' }
    case 'result':
      return { ...facts, usage: addUsage(facts.usage, event), result: resultOf(event) }
  }
}

function afterAssistant(facts: RunFacts, event: AssistantEvent): RunFacts {
  const text = wordsOf(event)
  if (isSynthetic(event)) return { ...facts, api_error: text === '' ? null : { kind: event.error ?? 'unknown', text } }
  const acts = blocksOf(event).some((block) => isToolUse(block.type))
  // A sub-agent's words are addressed to the agent, not to people.
  const speaks = text !== '' && (event.parent_tool_use_id ?? null) === null
  return {
    ...facts,
    acted: facts.acted || acts,
    closing_words: acts ? null : speaks ? text : facts.closing_words,
    last_words: speaks ? text : facts.last_words,
    api_error: null,
  }
}

function addUsage(before: Usage | null, event: ResultEvent): Usage {
  const { usage } = event
  const input =
    (usage?.input_tokens ?? 0) + (usage?.cache_creation_input_tokens ?? 0) + (usage?.cache_read_input_tokens ?? 0)
  return {
    input_tokens: Math.round((before?.input_tokens ?? 0) + input),
    output_tokens: Math.round((before?.output_tokens ?? 0) + (usage?.output_tokens ?? 0)),
    // Unlike the tokens, the cost is told as a running total.
    cost_usd: event.total_cost_usd ?? before?.cost_usd ?? null,
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

/** `server_tool_use` is a tool that runs at the model's side. */
export const isToolUse = (type: string): boolean => type === 'tool_use' || type === 'server_tool_use'
