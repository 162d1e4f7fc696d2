import type { TranscriptEntry, Usage } from '../../../src-shared/contract/executions.ts'
import { createLineSplitter, maxLineBytes } from '../agent/split-lines.ts'
import type { SplitLine } from '../agent/split-lines.ts'
import { readControl } from './control.ts'
import type { ControlMessage } from './control.ts'
import { parseLine } from './stream-events.ts'
import type { StreamEvent } from './stream-events.ts'
import { toEntries } from './to-entries.ts'
import { initialRunState, reduceRunState } from './reduce-run-state.ts'
import type { RunState } from './reduce-run-state.ts'

export interface StreamListener {
  readonly onEntry: (entry: TranscriptEntry) => void
  /** Called when a turn has ended; `queued` more turns will follow without input. */
  readonly onTurnEnd?: (queued: number) => void
  /** Called when the run can't succeed any more, so there is no need to wait. */
  readonly giveUp?: (() => void) | undefined
  /** Called when a turn starts: the first one, or a queued one. */
  readonly onTurn?: () => void
  /** Called with the session's ID, and again when it changes. */
  readonly onSession?: (session_id: string) => void
  /** Called when Claude Code sends or withdraws a control request. */
  readonly onControl?: (message: ControlMessage) => void
  /** The time of entries, as ISO 8601. */
  readonly now: () => string
}

export interface StreamReader {
  push(bytes: Uint8Array): void
  /** Ends the input; an incomplete last line is read as it is. */
  end(): void
  facts(): RunState
}

/**
 * Reads Claude Code's stream-json, independent of chunk boundaries. Other output becomes `stdout` entries; nothing in
 * the stream makes it throw.
 */
export function createStreamReader(
  listener: StreamListener,
  {
    maxBytes = maxLineBytes,
    earlier = null,
  }: { readonly maxBytes?: number | undefined; readonly earlier?: Usage | null } = {},
): StreamReader {
  const lines = createLineSplitter(maxBytes)
  let facts: RunState = { ...initialRunState, earlier }

  const read = (line: SplitLine): void => {
    const at = listener.now()
    const parsed = line.omittedBytes > 0 ? ({ kind: 'garbage' } as const) : parseLine(line.text)
    if (parsed.kind === 'garbage') {
      const rest = line.omittedBytes > 0 ? ` … ${line.omittedBytes} more bytes of this line were left out` : ''
      listener.onEntry({ type: 'stdout', at, text: line.text + rest })
      return
    }
    if (parsed.kind === 'unknown') {
      const control = readControl(parsed.json)
      if (control !== null) listener.onControl?.(control)
      return
    }
    const before = facts
    facts = reduceRunState(before, parsed.event)
    if (facts.session_id !== null && facts.session_id !== before.session_id) listener.onSession?.(facts.session_id)
    for (const entry of toEntries(parsed.event, before, facts, at)) listener.onEntry(entry)
    if (facts.unauthorized && !before.unauthorized) listener.giveUp?.()
    if (parsed.event.type === 'result') listener.onTurnEnd?.(parsed.event.queued_turn_count ?? 0)
    else if (isOfTurn(parsed.event)) listener.onTurn?.()
  }
  return {
    push: (bytes) => lines.push(bytes).forEach(read),
    end: () => lines.end().forEach(read),
    facts: () => facts,
  }
}

/** Returns whether an event belongs to a turn; notices about the process also arrive after the last one. */
const isOfTurn = (event: StreamEvent): boolean =>
  event.type === 'assistant' || (event.type === 'system' && event.subtype === 'init')
