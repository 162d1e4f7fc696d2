import { actionVerbs } from '../../../src-shared/contract/executions.ts'
import { count } from '../../formatters/format-amounts.ts'
import { diffLines, type LineDiff } from '../../components/edits/line-diff.ts'
import { questionsOf } from './structured-questions.ts'
import type { PairedCall, ToolCall, ToolResult } from './transcript-rows.ts'
import { escapeHidden } from '../../../src-shared/lang/hidden-characters.ts'

type ToolOutcome =
  | { readonly kind: 'running' }
  | { readonly kind: 'size'; readonly additions: number; readonly deletions: number }
  | { readonly kind: 'failed'; readonly text: string }
  | { readonly kind: 'done'; readonly text: string }

/** The content of a tool call's row. */
export interface ToolSummary {
  readonly verb: string
  readonly target: string
  readonly outcome: ToolOutcome
  /** Milliseconds between the call and its result; null while it runs. */
  readonly duration_ms: number | null
  readonly diff: LineDiff | null
}

/** Returns the summary of a call, or of a group of reads as "Read src/*.ts, 5 files". */
export function summariseCalls(calls: readonly PairedCall[], live: boolean): ToolSummary {
  const first = calls[0]
  if (!first) return { verb: 'Tool', target: '', outcome: { kind: 'done', text: '' }, duration_ms: null, diff: null }
  if (calls.length > 1) return summariseReads(calls, live)
  const { call, result } = first
  const diff =
    call.diff === null
      ? null
      : diffLines(call.diff.old_text && escapeHidden(call.diff.old_text), escapeHidden(call.diff.new_text))
  const named = call.action === 'mcp' || call.action === 'other'
  const [question] = questionsOf(call.input)
  return {
    verb: question ? 'Asked' : named ? escapeHidden(call.tool) : actionVerbs[call.action],
    target: question ? escapeHidden(question.question) : (call.target ?? call.diff?.path ?? ''),
    outcome: summarizeCall(call, result, diff, live),
    duration_ms: result === null ? null : elapsed(call.at, result.at),
    diff,
  }
}

function summariseReads(calls: readonly PairedCall[], live: boolean): ToolSummary {
  const failed = calls.filter((pair) => pair.result?.ok === false).length
  const waiting = live && calls.some((pair) => pair.result === null)
  const files = `${calls.length} files`
  const outcome: ToolOutcome = waiting
    ? { kind: 'running' }
    : failed > 0
      ? { kind: 'failed', text: `${failed} of ${files} failed` }
      : { kind: 'done', text: files }
  return {
    verb: 'Read',
    target: commonPattern(calls.map((pair) => pair.call.target ?? '')),
    outcome,
    duration_ms: null,
    diff: null,
  }
}

function summarizeCall(call: ToolCall, result: ToolResult | null, diff: LineDiff | null, live: boolean): ToolOutcome {
  if (result === null) return live ? { kind: 'running' } : { kind: 'done', text: 'no answer' }
  if (!result.ok) {
    const exit = /\bexit(?:ed)?(?: with)?(?: code| status)?:? (\d+)\b/i.exec(result.text.slice(0, 4_000))
    return { kind: 'failed', text: exit ? `exit ${exit[1]}` : 'failed' }
  }
  if (diff !== null) return { kind: 'size', additions: diff.additions, deletions: diff.deletions }
  return { kind: 'done', text: resultSize(call, result) }
}

function resultSize(call: ToolCall, result: ToolResult): string {
  if (call.action === 'run') return ''
  const lines = countLines(result.text)
  if (call.action === 'search') return count(lines, 'hit')
  if (call.action === 'read') return count(lines, 'line')
  return ''
}

function countLines(text: string): number {
  return text.trim() === '' ? 0 : text.trim().split('\n').length
}

function elapsed(from: string, to: string): number {
  return Math.max(0, Date.parse(to) - Date.parse(from))
}

/**
 * Returns a glob of the paths (`src/a.ts`, `src/b.ts` → `src/*.ts`); without a common part, the
 * first path and the count of others.
 */
export function commonPattern(paths: readonly string[]): string {
  const first = paths[0] ?? ''
  const folder = first.slice(0, first.lastIndexOf('/') + 1)
  const ending = first.slice(first.lastIndexOf('.'))
  if (folder !== '' && paths.every((path) => path.startsWith(folder))) {
    const sameEnding = first.includes('.') && paths.every((path) => path.endsWith(ending))
    return `${folder}*${sameEnding ? ending : ''}`
  }
  return `${first} and ${paths.length - 1} more`
}

/** Returns the first non-empty line without markup, for a collapsed thought. */
export function firstLine(text: string): string {
  const line = text.split('\n').find((candidate) => candidate.trim() !== '') ?? ''
  return line.replaceAll(/^#+\s*|\*\*|`/g, '').trim()
}
