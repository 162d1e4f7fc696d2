import { z } from 'zod'
import type { RefusedRequest } from '../agent/retry-text.ts'
import { RateLimit, System } from '../claude-code/stream-events.ts'

const Retry = System.extend({ subtype: z.literal('api_retry') })
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
