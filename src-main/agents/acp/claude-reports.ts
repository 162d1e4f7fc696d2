import { z } from 'zod'
import type { RefusedRequest } from '../agent/retry-text.ts'

const Retry = z.looseObject({
  type: z.literal('system'),
  subtype: z.literal('api_retry'),
  attempt: z.number().optional(),
  max_retries: z.number().optional(),
  retry_delay_ms: z.number().optional(),
  error_status: z.number().nullish(),
  error: z.string().nullish(),
})
const RateLimit = z.looseObject({
  type: z.literal('rate_limit_event'),
  rate_limit_info: z.looseObject({
    status: z.string(),
    resetsAt: z.number().min(0).max(100_000_000_000).nullish().catch(null),
  }),
})
const Report = z.looseObject({
  method: z.literal('_claude/sdkMessage'),
  params: z.looseObject({ message: z.union([Retry, RateLimit]) }),
})

/** A report of Claude Code's adapter about the model's server. */
export type ClaudeReport =
  | { readonly type: 'retry'; readonly request: RefusedRequest }
  | { readonly type: 'limit'; readonly resets_at: string | null }

/** Returns the report in a message; null for another message. */
export function readClaudeReport(json: unknown): ClaudeReport | null {
  const found = Report.safeParse(json)
  if (!found.success) return null
  const { message } = found.data.params
  if (message.type === 'system') return { type: 'retry', request: message }
  const { status, resetsAt } = message.rate_limit_info
  if (status !== 'rejected') return null
  return { type: 'limit', resets_at: resetsAt == null ? null : new Date(resetsAt * 1_000).toISOString() }
}
