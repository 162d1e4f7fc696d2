import type { HookRun } from '../../../src-shared/contract/lifecycle-hooks.ts'
import type { GlyphName } from '../../components/state-glyphs.ts'
import { count, formatSpan } from '../../formatters/format-amounts.ts'
import { hookReason } from '../../formatters/hook-reason.ts'
import type { ResultFilter } from './hook-runs.ts'

export const runGlyphs = {
  running: 'running',
  succeeded: 'succeeded',
  failed: 'failed',
  timed_out: 'timed-out',
  skipped: 'skipped',
} as const satisfies Record<HookRun['status'], GlyphName>

export const resultWords = {
  all: 'All results',
  running: 'Running',
  failed: 'Failed',
  timed_out: 'Timed out',
  skipped: 'Skipped',
  succeeded: 'Succeeded',
} as const satisfies Record<ResultFilter, string>

/** Returns `Failed, blocking, exit 1`, `Timed out, killed after 1 m 00 s` or `Skipped, no worktree`. */
export function runSentence(run: HookRun): string {
  const parts = [
    resultWords[run.status],
    ...(run.blocking && run.status !== 'skipped' ? ['blocking'] : []),
    ending(run),
  ]
  return parts.filter((part) => part !== '').join(', ')
}

function ending(run: HookRun): string {
  if (run.status === 'timed_out') return `killed after ${formatSpan((run.timeout_seconds ?? 0) * 1_000)}`
  if (run.status === 'skipped') return run.reason === null ? '' : lowerFirst(hookReason(run.reason))
  if (run.exit_code !== null) return `exit ${run.exit_code}`
  return run.reason ?? ''
}

function lowerFirst(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, '')
}

/** Returns the line count of an output for its tab; null for empty output. */
export function lineCount(output: string): string | null {
  const text = output.replace(/\s+$/, '')
  return text === '' ? null : count(text.split('\n').length, 'line')
}

/** Returns `08:01:12`, with the date before it if that isn't today. */
export function startedAt(at: string, now: Date): string {
  const date = new Date(at)
  const clock = date.toLocaleTimeString('en-GB')
  if (date.toDateString() === now.toDateString()) return clock
  return `${date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })} ${clock}`
}

/** Returns `08:01`, or `20 Nov` if that isn't today, for narrow lists. */
export function startedShort(at: string, now: Date): string {
  const full = startedAt(at, now)
  return full.includes(' ') ? full.slice(0, full.lastIndexOf(' ')) : full.slice(0, -3)
}
