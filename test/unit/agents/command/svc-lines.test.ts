import { expect, test } from 'vitest'
import type { TranscriptEntry } from '../../../../src-shared/contract/executions.ts'
import { createSvcFilter, createSvcLines } from '../../../../src-main/agents/command/svc-lines.ts'

function open() {
  const entries: TranscriptEntry[] = []
  const sessions: string[] = []
  const lines = createSvcLines({
    log: { entry: (entry: TranscriptEntry) => entries.push(entry) } as never,
    onSession: (id) => sessions.push(id),
  })
  const filter = createSvcFilter(lines)
  return {
    lines,
    entries,
    sessions,
    push: (text: string) => filter.push(Buffer.from(text)).toString('utf8'),
    flush: () => filter.flush().toString('utf8'),
  }
}

test('removes only whole report lines, wherever the stream is cut', () => {
  const { push, flush, lines, sessions } = open()
  expect(push('one\n{"sv')).toBe('one\n')
  expect(push('c":{"session_id":"s1"}}\r\ntwo')).toBe('two')
  expect(push(' {"svc":{}}\n')).toBe(' {"svc":{}}\n')
  expect(push('{"other":1}\n{"svc":{"unknown":1}}\n')).toBe('{"other":1}\n{"svc":{"unknown":1}}\n')
  expect(push('{"svc":{"session_id":"s2"}}')).toBe('')
  expect(flush()).toBe('')
  expect(sessions).toEqual(['s1', 's2'])
  expect(lines.result()).toEqual({ session_id: 's2', usage: null })
})

test('says what of a report it can’t read, and shows the line', () => {
  const { push, entries, lines } = open()
  const line = '{"svc":{"usage":{"cost_usd":"0.5"}}}\n'
  expect(push(line)).toBe(line)
  expect(entries).toMatchObject([{ type: 'error', text: expect.stringMatching(/svc\.usage\.cost_usd/) as string }])
  expect(lines.result().usage).toBeNull()
  push('{"svc":{"usage":{"cost_usd":0.5}}}\n')
  expect(lines.result().usage).toEqual({ input_tokens: null, output_tokens: null, cost_usd: 0.5 })
})

test('passes a line that is too long or no JSON as output', () => {
  const { push, flush } = open()
  const long = `{"svc":${'x'.repeat(70_000)}`
  expect(push(long)).toBe(long)
  expect(push('{"svc":{"session_id":"s1"}}\n')).toBe('{"svc":{"session_id":"s1"}}\n')
  expect(push('{"svc":half')).toBe('')
  expect(flush()).toBe('{"svc":half')
})

test('reports totals as what was added, never below zero', () => {
  const { push, entries, lines } = open()
  push('{"svc":{"usage":{"input_tokens":100,"output_tokens":5,"cost_usd":0.5,"turns":2}}}\n')
  push('{"svc":{"usage":{"input_tokens":90,"output_tokens":9,"cost_usd":0.75,"turns":3,"model":"m"}}}\n')
  expect(entries.map(({ at: _at, ...entry }) => entry)).toEqual([
    { type: 'usage', input_tokens: 100, output_tokens: 5, cost_usd: 0.5, turns: 2 },
    { type: 'usage', input_tokens: 0, output_tokens: 4, cost_usd: 0.25, turns: 1, model: 'm' },
  ])
  expect(lines.result().usage).toEqual({ input_tokens: 100, output_tokens: 9, cost_usd: 0.75, turns: 3, model: 'm' })
})
