import { timeOfId } from '../../../src-shared/lang/time-of-id.ts'
import { closeSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { AccountWindow } from '../../../src-shared/contract/accounts.ts'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'

const Window = z.looseObject({
  used_percent: z.number(),
  window_minutes: z.number().nullish(),
  resets_at: z.number().nullish(),
  resets_in_seconds: z.number().nullish(),
})
const TokenCount = z.looseObject({
  timestamp: z.iso.datetime().optional().catch(undefined),
  payload: z.looseObject({
    type: z.literal('token_count'),
    info: z
      .looseObject({
        total_token_usage: z.looseObject({
          input_tokens: z.number(),
          output_tokens: z.number(),
          cached_input_tokens: z.number().optional(),
        }),
      })
      .nullish()
      .catch(null),
    rate_limits: z
      .looseObject({
        limit_name: z.string().nullish(),
        primary: Window.nullish().catch(null),
        secondary: Window.nullish().catch(null),
      })
      .nullish()
      .catch(null),
  }),
})

const TurnContext = z.looseObject({ payload: z.looseObject({ model: z.string().min(1).max(200) }) })

/** The session's sums after a model request. */
export interface SessionTokens {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cached_tokens: number
}

/** The file that Codex writes for a session, with the usage of requests and account limits, which it does not print. */
export interface Rollout {
  /** Returns the sums after each request since the last call. */
  look(): readonly SessionTokens[]
  /** Returns the latest windows of the account. */
  windows(): readonly AccountWindow[]
  /** Returns the model of the latest turn; null until it is known. */
  model(): string | null
}

/** The file also contains tool output; reading its end is enough because the sums are repeated. */
const maxBytes = 256 * 1024

/** Reads a session's file below Codex's folder, from its end at the start of the run. */
export function readRollout(folder: string, thread_id: string, isResumed: boolean): Rollout {
  let path: string | null = null
  let offset: number | null = isResumed ? null : 0
  let windows: readonly AccountWindow[] = []
  let model: string | null = null

  const look = (): SessionTokens[] => {
    path ??= findRollout(folder, thread_id)
    if (path === null) return []
    const isFirst = offset === null
    const read = readFrom(path, offset)
    if (read === null) return []
    offset = read.offset
    const found = read.lines.flatMap((line) => {
      if (line.includes('"turn_context"')) {
        const turn = TurnContext.safeParse(parseJson(line))
        if (turn.success) model = turn.data.payload.model
      }
      const event = line.includes('"token_count"') ? TokenCount.safeParse(parseJson(line)) : null
      if (!event?.success) return []
      const { info, rate_limits } = event.data.payload
      const told = windowsOf(rate_limits, Date.parse(event.data.timestamp ?? '') || Date.now())
      if (told.length > 0) windows = told
      if (!info) return []
      const { input_tokens, output_tokens, cached_input_tokens = 0 } = info.total_token_usage
      return [{ input_tokens, output_tokens, cached_tokens: cached_input_tokens }]
    })
    return isFirst ? [] : found
  }
  return { look, windows: () => windows, model: () => model }
}

/** Finds a session's file in the folder of the local day on which it started, which its ID, a UUIDv7, contains. */
function findRollout(folder: string, thread_id: string): string | null {
  const began = timeOfId(thread_id)
  if (!Number.isFinite(began)) return null
  for (const days of [0, -1, 1]) {
    const day = new Date(began + days * 86_400_000)
    const two = (value: number) => String(value).padStart(2, '0')
    const path = join(folder, 'sessions', String(day.getFullYear()), two(day.getMonth() + 1), two(day.getDate()))
    const name = namesIn(path).find((one) => one.endsWith(`-${thread_id}.jsonl`))
    if (name !== undefined) return join(path, name)
  }
  return null
}

function namesIn(path: string): readonly string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}

/** Reads whole lines from `from` on, or the last ones; returns null if the file can't be read. */
function readFrom(
  path: string,
  from: number | null,
): { readonly lines: readonly string[]; readonly offset: number } | null {
  let file: number | null = null
  try {
    file = openSync(path, 'r')
    const { size } = fstatSync(file)
    const start = Math.max(from ?? 0, size - maxBytes)
    const buffer = Buffer.alloc(Math.max(0, size - start))
    const bytes = buffer.subarray(0, readSync(file, buffer, 0, buffer.length, start))
    const end = bytes.lastIndexOf(0x0a) + 1
    return { lines: bytes.subarray(0, end).toString('utf8').split('\n'), offset: start + end }
  } catch {
    return null
  } finally {
    if (file !== null) closeSync(file)
  }
}

type RateLimits = z.infer<typeof TokenCount>['payload']['rate_limits']

function windowsOf(limits: RateLimits, at: number): AccountWindow[] {
  return [limits?.primary, limits?.secondary].flatMap((window) => {
    if (!window) return []
    const { used_percent, window_minutes, resets_at, resets_in_seconds } = window
    const reset =
      resets_at != null ? resets_at * 1_000 : resets_in_seconds != null ? at + resets_in_seconds * 1_000 : null
    const name = [spanName(window_minutes ?? null), limits?.limit_name].filter(Boolean).join(', ')
    return [{ name, used: used_percent / 100, resets_at: reset === null ? null : new Date(reset).toISOString() }]
  })
}

function spanName(minutes: number | null): string {
  if (minutes === null) return 'Usage'
  const hours = Math.round(minutes / 60)
  return hours < 24 ? `${hours} hours` : `${Math.round(hours / 24)} days`
}
