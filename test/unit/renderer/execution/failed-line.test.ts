import { expect, test } from 'vitest'
import type { TranscriptEntry } from '../../../../src-shared/contract/executions.ts'
import { failedLine } from '../../../../src-renderer/features/execution/failed-line.ts'
import { createTranscriptRows } from '../../../../src-renderer/features/execution/transcript-rows.ts'

const at = '2026-11-21T09:30:00.000Z'
const out = (...lines: readonly string[]): TranscriptEntry => ({ type: 'stdout', at, text: lines.join('\n') })
const err = (text: string): TranscriptEntry => ({ type: 'stderr', at, text })

function failedIn(...entries: TranscriptEntry[]) {
  const builder = createTranscriptRows()
  builder.append(entries)
  return failedLine(builder.rows())
}

test('finds the last line of output that tells of an error, by its words or its colour', () => {
  expect(failedIn(out('one', 'error TS1005: a comma', 'two'), err('Downloading'), out('bye'))).toEqual({
    row: 0,
    line: 1,
  })
  expect(failedIn(err('API error: 529 overloaded_error'), out('cleaning', 'cleaning'))).toEqual({ row: 0, line: 0 })
  expect(failedIn(out('a', '\u001b[31mexpected 1, got 2\u001b[0m', 'b'))).toEqual({ row: 0, line: 1 })
  expect(failedIn(out('FAIL cart.test.ts', 'Tests: 1 failed'), out('0 errors'))).toEqual({ row: 0, line: 1 })
})

test('finds a call that failed, and nothing where nothing did', () => {
  const call = {
    type: 'tool_call',
    at,
    id: 'a',
    tool: 'Bash',
    action: 'run',
    target: 'make',
    input: {},
    diff: null,
  } as const
  const ended: TranscriptEntry = { type: 'tool_result', at, id: 'a', ok: false, text: 'no rule' }
  expect(failedIn(out('hi'), call, ended, out('bye'))).toEqual({ row: 1, line: 0 })
  expect(failedIn(out('no errors', '0 failed', 'terrorists and failovers'))).toBe(null)
})
