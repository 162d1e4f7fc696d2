import { plainTerminalText } from '../../components/terminal-text.ts'
import type { GlyphName } from '../../components/state-glyphs.ts'
import { formatShortSpan } from '../../formatters/format-amounts.ts'
import { hookName } from '../../formatters/hook-name.ts'
import { hookReason, skippedOnce } from '../../formatters/hook-reason.ts'
import type { ActivityItem } from './activity-item.ts'

type HookItem = Pick<Extract<ActivityItem, { kind: 'hook' }>, 'hook' | 'run'>

/** A hook in the timeline. Lines with a tone stand out. */
export interface HookLine {
  readonly tone: 'error' | 'warning' | null
  readonly glyph: GlyphName
  readonly name: string
  /** For example `failed, exit 1, and held the task`. */
  readonly words: string
  readonly after: string | null
  /** The reason, or the last line of output. */
  readonly body: string | null
}

export function hookLine({ hook, run }: HookItem, nameOf: (by: string) => string): HookLine {
  const name = run ? hookName(run) : hook.action
  const reason = hook.reason ?? null
  if (hook.outcome === 'skipped') {
    const skip = reason === null ? null : skippedOnce(reason)
    return {
      // Skipped because there was nothing to do, so it needs no attention.
      tone: reason === 'not_needed' ? null : 'warning',
      glyph: 'skipped',
      name,
      words: skip ? `was skipped once by ${nameOf(skip.by)}` : 'was skipped',
      after: null,
      body: skip ? `“${skip.why}”` : reason && hookReason(reason),
    }
  }
  if (hook.outcome === 'ok') {
    const { by, said } = /^(?<by>\S+): (?<said>.*)$/s.exec(reason ?? '')?.groups ?? {}
    const body = by === undefined || said === undefined ? reason : `${nameOf(by)}: ${said}`
    return { tone: null, glyph: 'succeeded', name, words: 'was done', after: null, body }
  }
  return {
    tone: 'error',
    glyph: run?.status === 'timed_out' ? 'timed-out' : 'failed',
    name,
    words: failureWords({ hook, run }),
    after: formatShortSpan(hook.duration_ms),
    body: (run && lastOutputLine(run)) ?? (reason && hookReason(reason)),
  }
}

function failureWords({ hook, run }: HookItem): string {
  const hasExit = run !== null && run.status !== 'timed_out' && run.exit_code !== null
  const failed = run?.status === 'timed_out' ? 'timed out' : `failed${hasExit ? `, exit ${run.exit_code}` : ''}`
  if (hook.outcome === 'failed') return failed
  // before_work doesn't undo a move: the task waits in its state.
  return `${failed}${hasExit ? ',' : ''} and ${hook.phase === 'before_work' ? 'held the task' : 'blocked the move'}`
}

function lastOutputLine(run: Exclude<HookItem['run'], null>): string | null {
  const lines = plainTerminalText(run.stderr.trim() === '' ? run.stdout : run.stderr).split('\n')
  // Lines with "+" are the trace of `set -x`, not output of the script.
  return lines.findLast((line) => line.trim() !== '' && !line.startsWith('+ '))?.trim() ?? null
}
