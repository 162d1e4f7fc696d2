import { z } from 'zod'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import { isRecord } from '../agent/text.ts'

/**
 * The output of Claude Code in `--output-format stream-json` (as of 2.1.332), one JSON object per line. Only fields
 * read here are described, loosely: the format grows with every release.
 */

const Block = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  thinking: z.string().optional(),
  id: z.string().optional(),
  name: z.string().optional(),
  input: z.unknown().optional(),
  tool_use_id: z.string().optional(),
  is_error: z.boolean().nullish(),
  content: z.unknown().optional(),
})
export type Block = z.infer<typeof Block>

const count = z.number().min(0).nullish()
const Tokens = z.looseObject({
  input_tokens: count,
  output_tokens: count,
  cache_creation_input_tokens: count,
  cache_read_input_tokens: count,
})
export type Tokens = z.infer<typeof Tokens>

const Message = z.looseObject({
  id: z.string().optional(),
  model: z.string().optional(),
  content: z.union([z.string(), z.array(Block)]),
  usage: Tokens.nullish().catch(null),
})

/** A git hunk with its context lines. */
const Hunk = z.looseObject({ newStart: z.int(), lines: z.array(z.string()) })

const common = { session_id: z.string().optional() }

export const System = z.looseObject({
  type: z.literal('system'),
  ...common,
  subtype: z.string(),
  cwd: z.string().optional(),
  mcp_servers: z.array(z.looseObject({ name: z.string(), status: z.string() })).optional(),
  attempt: z.number().optional(),
  max_retries: z.number().optional(),
  retry_delay_ms: z.number().optional(),
  error_status: z.number().nullish(),
  error: z.string().nullish(),
})

const Assistant = z.looseObject({
  type: z.literal('assistant'),
  ...common,
  message: Message,
  parent_tool_use_id: z.string().nullish(),
  error: z.string().nullish(),
  is_api_error_message: z.boolean().optional(),
})

const User = z.looseObject({
  type: z.literal('user'),
  ...common,
  message: Message,
  parent_tool_use_id: z.string().nullish(),
  tool_use_result: z
    .looseObject({ structuredPatch: z.array(Hunk).optional() })
    .nullish()
    .catch(null),
})

const Result = z.looseObject({
  type: z.literal('result'),
  ...common,
  subtype: z.string(),
  is_error: z.boolean().optional(),
  result: z.string().nullish(),
  errors: z.array(z.string()).optional(),
  api_error_status: z.number().nullish(),
  total_cost_usd: z.number().min(0).nullish(),
  queued_turn_count: z.number().optional(),
  usage: Tokens.nullish(),
  modelUsage: z
    .record(z.string(), z.looseObject({ outputTokens: count }))
    .nullish()
    .catch(null),
})

export const RateLimit = z.looseObject({
  type: z.literal('rate_limit_event'),
  ...common,
  rate_limit_info: z.looseObject({
    status: z.string(),
    rateLimitType: z.string().nullish().catch(null),
    utilization: z.number().min(0).nullish().catch(null),
    resetsAt: z.number().min(0).max(100_000_000_000).nullish().catch(null),
  }),
})

/** The start and the end of a message, as the model sends them; `message_delta` has the message's real usage. */
const StreamPart = z.looseObject({
  type: z.literal('stream_event'),
  ...common,
  parent_tool_use_id: z.string().nullish(),
  event: z.discriminatedUnion('type', [
    z.looseObject({
      type: z.literal('message_start'),
      message: z.looseObject({ id: z.string(), model: z.string().optional(), usage: Tokens.nullish().catch(null) }),
    }),
    z.looseObject({ type: z.literal('message_delta'), usage: Tokens.nullish().catch(null) }),
  ]),
})

const Known = z.discriminatedUnion('type', [System, Assistant, User, Result, RateLimit, StreamPart])

export type SystemEvent = z.infer<typeof System>
export type AssistantEvent = z.infer<typeof Assistant>
export type UserEvent = z.infer<typeof User>
export type ResultEvent = z.infer<typeof Result>
export type RateLimitEvent = z.infer<typeof RateLimit>
export type StreamPartEvent = z.infer<typeof StreamPart>
export type StreamEvent = z.infer<typeof Known>

/** `garbage` is not part of the protocol; `unknown` is, but nothing here reads it. */
export type ParsedLine =
  | { readonly kind: 'event'; readonly event: StreamEvent }
  | { readonly kind: 'unknown'; readonly json: unknown }
  | { readonly kind: 'garbage' }

const knownTypes: ReadonlySet<string> = new Set([
  'system',
  'assistant',
  'user',
  'result',
  'rate_limit_event',
  'stream_event',
])

/** How Claude Code begins the line of a part of a message. */
export const partOpening = '{"type":"stream_event"'
const isWanted = (part: string): boolean => part.includes('"message_start"') || part.includes('"message_delta"')

/** Parses one line of the stream. A known type in an unknown shape is garbage, so that it stays visible. */
export function parseLine(line: string): ParsedLine {
  // A message has hundreds of parts, and only its first and last tell of usage.
  if (line.startsWith(partOpening) && !isWanted(line)) return { kind: 'unknown', json: null }
  const json = parseJson(line)
  // By hand, because every line passes here, and most are checked as a whole next.
  const type = isRecord(json) ? json['type'] : null
  if (typeof type !== 'string') return { kind: 'garbage' }
  if (!knownTypes.has(type)) return { kind: 'unknown', json }
  const known = Known.safeParse(json)
  if (known.success) return { kind: 'event', event: known.data }
  return type === 'stream_event' ? { kind: 'unknown', json: null } : { kind: 'garbage' }
}

/** Returns the blocks of a message; plain text becomes one text block. */
export function blocksOf(event: AssistantEvent | UserEvent): readonly Block[] {
  const { content } = event.message
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}

/** Returns whether Claude Code wrote the message in the model's place, as for an API error. */
export const isSynthetic = (event: AssistantEvent): boolean =>
  event.is_api_error_message === true || event.message.model === '<synthetic>'
