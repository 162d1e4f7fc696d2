import { describe, expect, test } from 'vitest'
import { commonPattern, firstLine, summariseCalls } from '../../../../src-renderer/features/execution/tool-summary.ts'
import type { PairedCall } from '../../../../src-renderer/features/execution/transcript-rows.ts'

const start = '2026-11-21T09:30:00.000Z'
const end = '2026-11-21T09:30:06.200Z'
function pair(
  action: PairedCall['call']['action'],
  target: string,
  answer?: { ok: boolean; text: string },
): PairedCall {
  return {
    call: { type: 'tool_call', at: start, id: target, tool: 'TheTool', action, target, input: {}, diff: null },
    result: answer ? { type: 'tool_result', at: end, id: target, ...answer } : null,
  }
}

describe('the line of a tool call', () => {
  test('shows exit code and duration of a failed command', () => {
    expect(summariseCalls([pair('run', 'npm test', { ok: false, text: 'boom\nexit code 2' })], true)).toMatchObject({
      verb: 'Run',
      target: 'npm test',
      outcome: { kind: 'failed', text: 'exit 2' },
      duration_ms: 6_200,
    })
  })
  test('shows the size of an edit', () => {
    const edit = pair('edit', 'a.ts', { ok: true, text: 'ok' })
    const call = { ...edit.call, diff: { path: 'a.ts', old_text: 'x', new_text: 'y\nz' } }
    expect(summariseCalls([{ ...edit, call }], true).outcome).toEqual({ kind: 'size', additions: 2, deletions: 1 })
  })
  test('shows a call without an answer as running, and afterwards without one', () => {
    expect(summariseCalls([pair('run', 'x')], true).outcome).toEqual({ kind: 'running' })
    expect(summariseCalls([pair('run', 'x')], false).outcome).toEqual({ kind: 'done', text: 'no answer' })
  })
  test('shows where and how many reads were grouped', () => {
    const reads = [pair('read', 'src/a.ts', { ok: true, text: '' }), pair('read', 'src/b.ts', { ok: true, text: '' })]
    expect(summariseCalls(reads, true)).toMatchObject({
      target: 'src/*.ts',
      outcome: { kind: 'done', text: '2 files' },
    })
  })
  test('names an unknown tool by its own name', () => {
    expect(summariseCalls([pair('mcp', 'q', { ok: true, text: '' })], true).verb).toBe('TheTool')
  })
})

test('joins paths of one folder to a pattern', () => {
  expect(commonPattern(['src/a.ts', 'src/b.ts'])).toBe('src/*.ts')
  expect(commonPattern(['src/a.ts', 'src/b.md'])).toBe('src/*')
  expect(commonPattern(['a.ts', 'lib/b.ts'])).toBe('a.ts and 1 more')
})

test('shows the first meaningful line of a folded thought, without marks', () => {
  expect(firstLine('\n\n## **Plan** for `next`\nmore')).toBe('Plan for next')
})
