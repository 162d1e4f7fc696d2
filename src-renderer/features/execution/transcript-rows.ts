import type { TranscriptEntry } from '../../../src-shared/contract/executions.ts'

type Entry<T extends TranscriptEntry['type']> = Extract<TranscriptEntry, { type: T }>
export type ToolCall = Entry<'tool_call'>
export type ToolResult = Entry<'tool_result'>

/** A call together with what it answered; `result` is null while it runs. */
export interface PairedCall {
  readonly call: ToolCall
  readonly result: ToolResult | null
}
export interface OutputChunk {
  readonly stream: 'stdout' | 'stderr'
  readonly text: string
}

/** One line of the readable transcript. `key` is the number of its first entry and never changes. */
export type TranscriptRow =
  | { readonly kind: 'start'; readonly key: number; readonly at: string; readonly text: string }
  | { readonly kind: 'person'; readonly key: number; readonly at: string; readonly text: string }
  | { readonly kind: 'message'; readonly key: number; readonly at: string; readonly text: string }
  | { readonly kind: 'thinking'; readonly key: number; readonly at: string; readonly text: string }
  | { readonly kind: 'error'; readonly key: number; readonly at: string; readonly text: string }
  | { readonly kind: 'question'; readonly key: number; readonly at: string; readonly text: string }
  | { readonly kind: 'answer'; readonly key: number; readonly at: string; readonly text: string; readonly by: string }
  | { readonly kind: 'tool'; readonly key: number; readonly at: string; readonly calls: readonly PairedCall[] }
  | { readonly kind: 'output'; readonly key: number; readonly at: string; readonly chunks: readonly OutputChunk[] }

export interface TranscriptTotals {
  readonly tokens: number
  readonly cost_usd: number | null
}

export interface TranscriptRows {
  /** Takes the entries that follow those known. A row that grows is replaced by a new object with the same key. */
  append(entries: readonly TranscriptEntry[]): void
  /** A copy: safe to hand to a shallow ref. */
  rows(): readonly TranscriptRow[]
  totals(): TranscriptTotals
  /** How many entries were taken; the next one has this number. */
  count(): number
}

/** Reads that follow each other become one row; a longer run starts another, so that a row stays small. */
const MAX_GROUP = 50
const MAX_CHUNKS = 400

/**
 * Folds a transcript, entry by entry, into rows: a result goes into its call (by id, wherever that was),
 * reads in a row become one row, so do pieces of output; usage becomes totals.
 */
export function createTranscriptRows(): TranscriptRows {
  const state: State = { rows: [], callRow: new Map(), tokens: 0, cost: null }
  let count = 0
  return {
    append(entries) {
      for (const entry of entries) addEntry(state, entry, count++)
    },
    rows: () => state.rows.slice(),
    totals: () => ({ tokens: state.tokens, cost_usd: state.cost }),
    count: () => count,
  }
}

interface State {
  readonly rows: TranscriptRow[]
  /** Call id → the index of its row. */
  readonly callRow: Map<string, number>
  tokens: number
  cost: number | null
}

function addEntry(state: State, entry: TranscriptEntry, key: number): void {
  switch (entry.type) {
    case 'prompt':
      // The service and the agent's own executor may both note what the run began with.
      if (state.rows.length === 1 && state.rows[0]?.kind === 'start' && state.rows[0].text === entry.text) return
      state.rows.push({ kind: state.rows.length === 0 ? 'start' : 'person', key, at: entry.at, text: entry.text })
      return
    case 'tool_call':
      return addCall(state, entry, key)
    case 'tool_result':
      return addResult(state, entry, key)
    case 'stdout':
    case 'stderr':
      return addOutput(state, { stream: entry.type, text: entry.text }, entry.at, key)
    case 'usage':
      state.tokens += entry.input_tokens + entry.output_tokens
      if (entry.cost_usd !== null) state.cost = (state.cost ?? 0) + entry.cost_usd
      return
    case 'message':
    case 'thinking':
    case 'error':
      state.rows.push({ kind: entry.type, key, at: entry.at, text: entry.text })
      return
    case 'question':
      // One that it ended with stands in its last words already.
      if (entry.ask_id !== undefined) state.rows.push({ kind: 'question', key, at: entry.at, text: entry.text })
      return
    case 'answer':
      state.rows.push({ kind: 'answer', key, at: entry.at, text: entry.text, by: entry.by.replace(/^user:/, '') })
  }
}

function addCall({ rows, callRow }: State, call: ToolCall, key: number): void {
  const previous = rows[rows.length - 1]
  const pair: PairedCall = { call, result: null }
  const joins =
    call.action === 'read' && previous?.kind === 'tool' && previous.calls.length < MAX_GROUP && isReads(previous.calls)
  if (joins) rows[rows.length - 1] = { ...previous, calls: [...previous.calls, pair] }
  else rows.push({ kind: 'tool', key, at: call.at, calls: [pair] })
  callRow.set(call.id, rows.length - 1)
}

function addResult(state: State, result: ToolResult, key: number): void {
  const index = state.callRow.get(result.id)
  const row = index === undefined ? undefined : state.rows[index]
  if (index === undefined || row?.kind !== 'tool') {
    return addOutput(state, { stream: result.ok ? 'stdout' : 'stderr', text: result.text }, result.at, key)
  }
  state.rows[index] = {
    ...row,
    calls: row.calls.map((pair) => (pair.call.id === result.id ? { call: pair.call, result } : pair)),
  }
}

function addOutput({ rows }: State, chunk: OutputChunk, at: string, key: number): void {
  const previous = rows[rows.length - 1]
  if (previous?.kind === 'output' && previous.chunks.length < MAX_CHUNKS) {
    rows[rows.length - 1] = { ...previous, chunks: joinChunk(previous.chunks, chunk) }
  } else rows.push({ kind: 'output', key, at, chunks: [chunk] })
}

function isReads(calls: readonly PairedCall[]): boolean {
  return calls.every((pair) => pair.call.action === 'read')
}

function joinChunk(chunks: readonly OutputChunk[], chunk: OutputChunk): readonly OutputChunk[] {
  const previous = chunks[chunks.length - 1]
  if (previous?.stream !== chunk.stream || previous.text.length > 20_000) return [...chunks, chunk]
  const gap = previous.text.endsWith('\n') || previous.text === '' ? '' : '\n'
  return [...chunks.slice(0, -1), { stream: chunk.stream, text: previous.text + gap + chunk.text }]
}
