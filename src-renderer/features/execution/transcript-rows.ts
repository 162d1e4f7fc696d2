import { isTelemetry } from '../../../src-shared/contract/telemetry-hosts.ts'
import type { TranscriptEntry } from '../../../src-shared/contract/executions.ts'
import { readConflictRequest } from '../../../src-shared/contract/conflict-request.ts'
import { questionsOf } from './structured-questions.ts'

type Entry<T extends TranscriptEntry['type']> = Extract<TranscriptEntry, { type: T }>
export type ToolCall = Entry<'tool_call'>
export type ToolResult = Entry<'tool_result'>
export type DeniedEntry = Entry<'denied'>

/** A call with its result; `result` is null while it runs. */
export interface PairedCall {
  readonly call: ToolCall
  readonly result: ToolResult | null
}
export type OutputStream = 'stdout' | 'stderr'

/** A row of the readable transcript. `key` is its number, which never changes: rows are only added. */
export type TranscriptRow =
  | { readonly kind: 'start'; readonly key: number; readonly at: string; readonly text: string }
  | { readonly kind: 'person'; readonly key: number; readonly at: string; readonly text: string }
  | {
      /** Copse's instructions, which the person sent by letting the agent resolve a conflict. */
      readonly kind: 'conflict'
      readonly key: number
      readonly at: string
      readonly text: string
    }
  | { readonly kind: 'message'; readonly key: number; readonly at: string; readonly text: string }
  | { readonly kind: 'thinking'; readonly key: number; readonly at: string; readonly text: string }
  | { readonly kind: 'error'; readonly key: number; readonly at: string; readonly text: string }
  | {
      readonly kind: 'question'
      readonly key: number
      readonly at: string
      readonly text: string
      readonly askId: string
    }
  | { readonly kind: 'answer'; readonly key: number; readonly at: string; readonly text: string; readonly by: string }
  | { readonly kind: 'tool'; readonly key: number; readonly at: string; readonly calls: readonly PairedCall[] }
  | { readonly kind: 'denied'; readonly key: number; readonly at: string; readonly denied: DeniedEntry }
  | { readonly kind: 'home'; readonly key: number; readonly at: string; readonly paths: readonly string[] }
  | TelemetryRow
  | OutputRow

/** The telemetry hosts that a run was denied; it doesn't need them. */
interface TelemetryRow {
  readonly kind: 'telemetry'
  readonly key: number
  readonly at: string
  readonly hosts: readonly string[]
}

/** Lines of output. Adjacent output rows are one block, named by the key of its first row. */
interface OutputRow {
  readonly kind: 'output'
  readonly key: number
  readonly at: string
  readonly stream: OutputStream
  readonly lines: readonly string[]
  /** The time of each line. */
  readonly times: readonly string[]
  readonly block: number
}

export interface TranscriptTotals {
  readonly tokens: number
  readonly cost_usd: number | null
}

export interface TranscriptRows {
  /**
   * Adds the entries after the known ones. A row that grows is replaced by a new object with the
   * same key.
   */
  append(entries: readonly TranscriptEntry[]): void
  /** Returns a copy, safe for a shallow ref. */
  rows(): readonly TranscriptRow[]
  totals(): TranscriptTotals
}

/** Reads per row; a longer series starts another row, so that rows stay small. */
const MAX_GROUP = 50
/** Lines of output per row, so that long output renders in part. */
export const LINES_A_ROW = 40

/**
 * Folds a transcript into rows: a result joins its call by ID, consecutive reads become one row,
 * output becomes rows of lines, and usage becomes totals.
 */
export function createTranscriptRows(): TranscriptRows {
  const state: State = { rows: [], callRow: new Map(), deniedRow: new Map(), tokens: 0, cost: null }
  return {
    append(entries) {
      for (const entry of entries) addEntry(state, entry)
    },
    rows: () => state.rows.slice(),
    totals: () => ({ tokens: state.tokens, cost_usd: state.cost }),
  }
}

interface State {
  readonly rows: TranscriptRow[]
  /** The index of a call's row by call ID. */
  readonly callRow: Map<string, number>
  /** The index of a row by denied target. */
  readonly deniedRow: Map<string, number>
  tokens: number
  cost: number | null
}

function addEntry(state: State, entry: TranscriptEntry): void {
  const key = state.rows.length
  switch (entry.type) {
    case 'prompt':
      // The service and the executor may both record the first prompt.
      if (state.rows.length === 1 && isPromptRow(state.rows[0]) && state.rows[0].text === entry.text) return
      state.rows.push({ kind: promptKind(entry.text, state.rows.length === 0), key, at: entry.at, text: entry.text })
      return
    case 'tool_call':
      return addCall(state, entry)
    case 'tool_result':
      return addResult(state, entry)
    case 'stdout':
    case 'stderr':
      return addOutput(state, entry.type, entry.text, entry.at)
    case 'denied':
      return addDenied(state, entry)
    case 'home_written':
      state.rows.push({ kind: 'home', key, at: entry.at, paths: entry.paths })
      return
    case 'usage':
      // Assumed figures only count against limits.
      if (entry.assumed !== true) state.tokens += entry.input_tokens + entry.output_tokens
      if (entry.cost_usd !== null) state.cost = (state.cost ?? 0) + entry.cost_usd
      return
    case 'message':
    case 'thinking':
    case 'error':
      state.rows.push({ kind: entry.type, key, at: entry.at, text: entry.text })
      return
    case 'question':
      return addQuestion(state, entry)
    case 'answer':
      state.rows.push({ kind: 'answer', key, at: entry.at, text: entry.text, by: entry.by.replace(/^user:/, '') })
  }
}

const isPromptRow = (row: TranscriptRow | undefined) => row?.kind === 'start' || row?.kind === 'conflict'

function promptKind(text: string, isFirst: boolean): 'start' | 'person' | 'conflict' {
  if (readConflictRequest(text)) return 'conflict'
  return isFirst ? 'start' : 'person'
}

function addCall({ rows, callRow }: State, call: ToolCall): void {
  const previous = rows[rows.length - 1]
  const pair: PairedCall = { call, result: null }
  const joins =
    call.action === 'read' && previous?.kind === 'tool' && previous.calls.length < MAX_GROUP && isReads(previous.calls)
  if (joins) rows[rows.length - 1] = { ...previous, calls: [...previous.calls, pair] }
  else rows.push({ kind: 'tool', key: rows.length, at: call.at, calls: [pair] })
  callRow.set(call.id, rows.length - 1)
}

/** Adds what the agent asks, unless the row of its call says it. */
function addQuestion({ rows }: State, { at, text, ask_id, options = [] }: Entry<'question'>): void {
  // A final question is already in the last message of the run.
  if (ask_id === undefined) return
  const isPermission = options.some(({ kind }) => kind === 'allow_once')
  const isOpenCall = ({ call, result }: PairedCall): boolean =>
    result === null && (isPermission ? says(text, call) : questionsOf(call.input).some((one) => one.question === text))
  const index = rows.findLastIndex((row) => row.kind === 'tool' && row.calls.some(isOpenCall))
  if (isPermission && index >= 0) return
  const question = { kind: 'question', at, text, askId: ask_id } as const
  // The first question of a call takes the place of the call.
  if (index >= 0) rows[index] = { ...question, key: index }
  else rows.push({ ...question, key: rows.length })
}

const says = (text: string, { target, tool }: ToolCall): boolean => text.endsWith(target ?? tool)

function addResult(state: State, result: ToolResult): void {
  const index = state.callRow.get(result.id)
  const row = index === undefined ? undefined : state.rows[index]
  // The answers are rows of their own.
  if (row?.kind === 'question') return
  if (index === undefined || row?.kind !== 'tool') {
    return addOutput(state, result.ok ? 'stdout' : 'stderr', result.text, result.at)
  }
  state.rows[index] = {
    ...row,
    calls: row.calls.map((pair) => (pair.call.id === result.id ? { call: pair.call, result } : pair)),
  }
}

/**
 * Adds or updates the row of a denied target; a later entry has the new count. All telemetry hosts
 * share a row.
 */
function addDenied({ rows, deniedRow }: State, denied: DeniedEntry): void {
  if (isTelemetry(denied)) return addTelemetry(rows, denied)
  const name = `${denied.what} ${denied.target}`
  const index = deniedRow.get(name)
  const row = index === undefined ? undefined : rows[index]
  if (index !== undefined && row?.kind === 'denied') {
    rows[index] = { ...row, denied: { ...denied, count: Math.max(denied.count, row.denied.count) } }
    return
  }
  deniedRow.set(name, rows.length)
  rows.push({ kind: 'denied', key: rows.length, at: denied.at, denied })
}

function addTelemetry(rows: TranscriptRow[], { target, at }: DeniedEntry): void {
  const index = rows.findIndex(({ kind }) => kind === 'telemetry')
  const row = rows[index]
  if (row?.kind !== 'telemetry') rows.push({ kind: 'telemetry', key: rows.length, at, hosts: [target] })
  else if (!row.hosts.includes(target)) rows[index] = { ...row, hosts: [...row.hosts, target] }
}

function addOutput({ rows }: State, stream: OutputStream, text: string, at: string): void {
  const more = linesOf(text)
  while (more.length > 0) {
    const previous = rows.at(-1)
    const block = previous?.kind === 'output' ? previous.block : rows.length
    if (previous?.kind === 'output' && previous.stream === stream && previous.lines.length < LINES_A_ROW) {
      const taken = more.splice(0, LINES_A_ROW - previous.lines.length)
      const times = [...previous.times, ...taken.map(() => at)]
      rows[rows.length - 1] = { ...previous, lines: [...previous.lines, ...taken], times }
    } else {
      const lines = more.splice(0, LINES_A_ROW)
      rows.push({ kind: 'output', key: rows.length, at, stream, lines, times: lines.map(() => at), block })
    }
  }
}

/** Returns the lines of a text; a trailing line break adds none. */
export function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}

function isReads(calls: readonly PairedCall[]): boolean {
  return calls.every((pair) => pair.call.action === 'read')
}
