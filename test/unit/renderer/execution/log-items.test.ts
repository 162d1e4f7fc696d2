import { describe, expect, test } from 'vitest'
import type { TranscriptEntry } from '../../../../src-shared/contract/executions.ts'
import { blockFold, logItems, type OpenParts } from '../../../../src-renderer/features/execution/log-items.ts'
import { createTranscriptRows } from '../../../../src-renderer/features/execution/transcript-rows.ts'

const at = '2026-11-21T09:30:00.000Z'
const lines = (count: number) => Array.from({ length: count }, (_, n) => `line ${n}`)
const printed = (count: number): TranscriptEntry => ({ type: 'stdout', at, text: lines(count).join('\n') })
const said: TranscriptEntry = { type: 'message', at, text: 'Done.' }
const shut: OpenParts = { isOpen: () => false, live: true, isUnfolded: () => false }
const open: OpenParts = { ...shut, isOpen: () => true }

/** Describes the drawn items in a word each: `-12` are twelve hidden lines. */
function drawn(parts: OpenParts, ...entries: TranscriptEntry[]) {
  const builder = createTranscriptRows()
  builder.append(entries)
  return logItems(builder.rows(), parts).map((item) => {
    if (item.kind === 'fold') return -item.hidden
    if (item.kind === 'lines') return item.lines.length
    return item.row.kind === 'output' ? item.row.lines.length : item.row.kind
  })
}
const total = (items: readonly (string | number)[]) =>
  items.reduce<number>((sum, item) => sum + (typeof item === 'number' ? Math.abs(item) : 0), 0)

describe('the log as one list', () => {
  test('folds a long block of output once something follows it, and loses no line', () => {
    const after = drawn(shut, printed(1_000), said)
    expect(after).toEqual([40, -840, 40, 40, 40, 'message'])
    expect(total(after)).toBe(1_000)
  })

  test('folds neither the end of a run nor a short block', () => {
    expect(drawn(shut, printed(1_000)).filter((item) => typeof item === 'number' && item < 0)).toEqual([])
    expect(total(drawn(shut, printed(1_000)))).toBe(1_000)
    // Of a run that has ended, the only block is folded too.
    expect(drawn({ ...shut, live: false }, printed(1_000))).toEqual([40, -840, 40, 40, 40])
    expect(drawn(shut, printed(300), said).filter((item) => typeof item === 'number' && item < 0)).toEqual([])
  })

  test('shows an unfolded block whole, in parts', () => {
    const all = drawn({ ...shut, isUnfolded: (key) => key === blockFold(0) }, printed(1_000), said)
    expect(all).toEqual([...Array.from({ length: 25 }, () => 40), 'message'])
  })

  test('shows the output of an open call after its row, folded in the middle', () => {
    const call: TranscriptEntry = {
      ...{ type: 'tool_call', at, id: 'a', tool: 'Bash', action: 'run', target: 'npm test', input: {}, diff: null },
    }
    const result: TranscriptEntry = { type: 'tool_result', at, id: 'a', ok: false, text: lines(500).join('\n') }
    expect(drawn(shut, call, result)).toEqual(['tool'])
    expect(drawn(open, call, result)).toEqual(['tool', 20, -460, 20])
    expect(total(drawn({ ...open, isUnfolded: () => true }, call, result))).toBe(500)
    expect(drawn(open, call)).toEqual(['tool'])
  })

  test('gives every item a key of its own', () => {
    const builder = createTranscriptRows()
    builder.append([{ type: 'prompt', at, text: lines(90).join('\n') }, printed(1_000), said, printed(900), said])
    const keys = logItems(builder.rows(), open).map(({ key }) => key)
    expect(new Set(keys).size).toBe(keys.length)
  })
})
