import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { TranscriptEntry } from '../../../../src-shared/contract/executions.ts'
import { TranscriptEntry as TranscriptEntrySchema } from '../../../../src-shared/contract/executions.ts'
import { createStreamReader } from '../../../../src-main/agents/claude-code/read-stream.ts'
import type { RunState } from '../../../../src-main/agents/claude-code/reduce-run-state.ts'
import { cutAt } from './cut-bytes.ts'

const at = '2026-11-21T10:00:00.000Z'
/** A real run of Claude Code 2.1.330. */
const recorded = readFileSync(new URL('recorded-run.jsonl', import.meta.url))
const session = '01e90850-a8a5-49ab-8ba4-3fadee47185a'

interface Read {
  readonly entries: readonly TranscriptEntry[]
  readonly facts: RunState
  readonly turns: readonly string[]
}

function read(chunks: readonly Uint8Array[], maxBytes?: number): Read {
  const entries: TranscriptEntry[] = []
  const turns: string[] = []
  const reader = createStreamReader(
    {
      now: () => at,
      onEntry: (entry) => entries.push(entry),
      onTurn: () => turns.push('turn'),
      onTurnEnd: (queued) => turns.push(`end, ${queued} queued`),
    },
    { maxBytes },
  )
  for (const chunk of chunks) reader.push(chunk)
  reader.end()
  return { entries, facts: reader.facts(), turns }
}

type Spent = Extract<TranscriptEntry, { type: 'usage' }>
const sumOf = (all: readonly Spent[]) => ({
  input_tokens: all.reduce((sum, { input_tokens }) => sum + input_tokens, 0),
  output_tokens: all.reduce((sum, { output_tokens }) => sum + output_tokens, 0),
  cost_usd: all.reduce((sum, { cost_usd }) => sum + (cost_usd ?? 0), 0),
})

const readEvents = (...events: readonly unknown[]): Read =>
  read([Buffer.from(events.map((event) => JSON.stringify(event)).join('\n'))])

const assistant = (content: unknown, more: object = {}): object => ({
  type: 'assistant',
  session_id: 's',
  message: { role: 'assistant', content },
  ...more,
})

test('turns a recorded run into a readable transcript', () => {
  const { entries, facts } = read([recorded])
  const told = entries.filter(({ type }) => type !== 'usage')
  const brief = told.map((entry) => {
    if (entry.type === 'tool_call') return [entry.type, entry.tool, entry.action, entry.target, entry.diff]
    if (entry.type === 'tool_result') return [entry.type, entry.ok, entry.text.split('.')[0]]
    return [entry.type, 'text' in entry ? entry.text : null]
  })
  const path = 'greeting.txt'
  expect(brief).toEqual([
    ['message', 'I add it.'],
    ['tool_call', 'Write', 'write', path, { path, old_text: null, new_text: 'hello\n' }],
    ['tool_result', true, 'File created successfully at: greeting'],
    ['tool_call', 'Edit', 'edit', path, { path, old_text: 'hello', new_text: 'hello there' }],
    ['tool_result', true, 'The file greeting'],
    ['tool_call', 'Edit', 'edit', path, { path, old_text: 'absent', new_text: 'x' }],
    ['tool_result', false, 'String to replace not found in file'],
    ['tool_call', 'Read', 'read', path, null],
    ['tool_result', true, '1\thello there\n2\t'],
    ['tool_call', 'ToolSearch', 'other', 'select:mcp__svc__svc_note', null],
    ['tool_result', true, 'mcp__svc__svc_note'],
    ['tool_call', 'mcp__svc__svc_note', 'mcp', 'a note', null],
    ['tool_result', true, 'Noted: a note'],
    ['tool_call', 'Bash', 'run', 'git add --all && git commit --quiet --message "Add a greeting"', null],
    ['tool_result', true, '(Bash completed with no output)'],
    ['message', 'Done: grüße 🌲.'],
  ])
  for (const entry of entries) expect(TranscriptEntrySchema.parse(entry)).toEqual(entry)
  const calls = entries.flatMap((entry) => (entry.type === 'tool_call' ? [entry.id] : []))
  const results = entries.flatMap((entry) => (entry.type === 'tool_result' ? [entry.id] : []))
  expect(results).toEqual(calls)
  // Only a completed edit has changed a line.
  expect(entries.flatMap((entry) => (entry.type === 'tool_result' ? (entry.line ?? []) : []))).toEqual([1])
  expect(facts).toEqual({
    session_id: session,
    cwd: '/projects/example',
    earlier: null,
    usage: { input_tokens: 800, output_tokens: 160, cost_usd: 0.0048 },
    spent: { input_tokens: 0, output_tokens: 0, cached_tokens: 0, cache_write_tokens: 0 },
    model: 'claude-sonnet-4-5',
    calls: 8,
    unauthorized: false,
    resets_at: null,
    windows: {},
    open: {},
    acted: true,
    finalMessage: 'Done: grüße 🌲.',
    lastMessage: 'Done: grüße 🌲.',
    api_error: null,
    rate_limit_rejected: false,
    result: { failed: false, subtype: 'success', text: 'Done: grüße 🌲.', api_error_status: null },
  })
})

test('reports usage with every model call, with the same sum as at the end', () => {
  const spent = read([recorded]).entries.flatMap((entry) => (entry.type === 'usage' ? [entry] : []))
  expect(spent.length).toBeGreaterThan(3)
  expect(spent[0]).toMatchObject({ cost_usd: null })
  expect(sumOf(spent)).toEqual({ input_tokens: 800, output_tokens: 160, cost_usd: 0.0048 })

  const usage = (input_tokens: number, output_tokens: number) => ({ input_tokens, output_tokens })
  const call = (id: string, tokens: object, more: object = {}) =>
    assistant([{ type: 'text', text: 'Hm.' }], { message: { id, content: [], usage: tokens }, ...more })
  const twice = readEvents(
    call('a', usage(100, 2)),
    call('a', usage(100, 9)),
    call('sub', usage(5_000, 1), { parent_tool_use_id: 't' }),
    call('b', usage(110, 4)),
    { type: 'result', subtype: 'success', is_error: false, result: 'x', total_cost_usd: 0.5, usage: usage(210, 20) },
    call('c', usage(120, 1)),
  )
  const told = twice.entries.flatMap((entry) => (entry.type === 'usage' ? [entry] : []))
  expect(told.map((one) => [one.input_tokens, one.output_tokens, one.cost_usd])).toEqual([
    [100, 2, null],
    [0, 7, null],
    [5_000, 1, null],
    [110, 4, null],
    [0, 6, 0.5],
    [120, 1, null],
  ])
})

/** A real run of Claude Code 2.1.332 with the parts of its messages, cut off before its result. */
const recordedParts = readFileSync(new URL('recorded-parts.jsonl', import.meta.url))

test('reads from the parts of messages what they used, each call once, before the turn has ended', () => {
  const { entries, facts } = read([recordedParts])
  const spent = entries.flatMap((entry) => (entry.type === 'usage' ? [entry] : []))
  expect(facts.result).toBeNull()
  expect(spent.map(({ input_tokens, output_tokens, turns }) => [input_tokens, output_tokens, turns])).toEqual([
    [100, 1, 1],
    [0, 19, undefined],
    [100, 1, 1],
    [0, 19, undefined],
    [100, 1, 1],
    [0, 19, undefined],
  ])
  expect(new Set(spent.map(({ model }) => model))).toEqual(new Set(['claude-opus-5-5']))
  expect(entries.filter(({ type }) => type !== 'usage').map((entry) => entry.type)).toEqual([
    'message',
    'tool_call',
    'tool_result',
    'tool_call',
    'tool_result',
    'message',
  ])
})

test('counts the calls of sub-agents that run at the same time', () => {
  const start = (id: string, input_tokens: number, parent: string | null = null) => ({
    ...{ type: 'stream_event', session_id: 's', parent_tool_use_id: parent },
    event: { type: 'message_start', message: { id, model: 'm', usage: { input_tokens, output_tokens: 1 } } },
  })
  const end = (output_tokens: number, parent: string | null = null) => ({
    ...{ type: 'stream_event', session_id: 's', parent_tool_use_id: parent },
    event: { type: 'message_delta', usage: { output_tokens } },
  })
  const { entries } = readEvents(
    start('a', 100),
    end(20),
    start('x', 1_000, 'one'),
    start('y', 2_000, 'two'),
    end(30, 'one'),
    end(40, 'two'),
    // It repeats the figures of the message's start.
    assistant([], {
      parent_tool_use_id: 'one',
      message: { id: 'x', content: [], usage: { input_tokens: 1_000, output_tokens: 1 } },
    }),
    end(50, 'unknown'),
  )
  const spent = entries.flatMap((entry) => (entry.type === 'usage' ? [entry] : []))
  expect(sumOf(spent)).toMatchObject({ input_tokens: 3_100, output_tokens: 90 })
  expect(spent.reduce((sum, { turns = 0 }) => sum + turns, 0)).toBe(3)
})

test('returns the same entries for any chunking and with garbage between lines', () => {
  const noise = ['', 'not json', '{"type":', '[]', 'null', '{"type":7}', '{"type":"future_event"}', '\u0000ü']
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...noise), { maxLength: 6 }),
      fc.array(fc.nat(recorded.length), { maxLength: 30 }),
      fc.constantFrom(200, undefined),
      (lines, cuts, max) => {
        const bytes = Buffer.concat([Buffer.from(lines.map((line) => `${line}\n`).join('')), recorded])
        expect(read(cutAt(bytes, cuts), max)).toEqual(read([bytes], max))
      },
    ),
    { numRuns: 60 },
  )
})

test('never throws, and returns only entries of the contract', () => {
  const event = fc.record({
    type: fc.constantFrom('system', 'assistant', 'user', 'result', 'rate_limit_event', 'other'),
    subtype: fc.constantFrom('init', 'success', 'api_retry', 3),
    message: fc.oneof(fc.json(), fc.record({ content: fc.oneof(fc.string(), fc.array(fc.jsonValue())) })),
    result: fc.jsonValue(),
  })
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          event.map((value) => JSON.stringify(value)),
          fc.json(),
          fc.string(),
        ),
      ),
      (lines) => {
        const { entries } = read([Buffer.from(lines.join('\n'))])
        for (const entry of entries) TranscriptEntrySchema.parse(entry)
      },
    ),
  )
})

test('shows lines outside the protocol as stdout, even an unfinished last one', () => {
  const lines = ['Welcome!', '{"type":"assistant"}', '{"type":"keep_alive"}', '{"half":']
  expect(read([Buffer.from(lines.join('\n'))]).entries).toEqual(
    ['Welcome!', '{"type":"assistant"}', '{"half":'].map((text) => ({ type: 'stdout', at, text })),
  )
})

test('shows the start of a line beyond the limit, and says that it is cut', () => {
  const { entries } = read([Buffer.from(`${JSON.stringify(assistant('x'.repeat(100_000)))}\nnext`)], 90_000)
  expect(entries.map((entry) => ('text' in entry ? entry.text.slice(-50) : null))).toEqual([
    expect.stringMatching(/x … \d+ more bytes of this line were left out$/),
    'next',
  ])
})

test('shows thinking as thinking and skips empty text', () => {
  const content = [
    { type: 'thinking', thinking: 'Hm.' },
    { type: 'thinking', thinking: '' },
    { type: 'text', text: ' ' },
  ]
  expect(readEvents(assistant(content)).entries).toEqual([{ type: 'thinking', at, text: 'Hm.' }])
})

test('shows an API error as one error entry, and does not fail a run that continued', () => {
  const failing = assistant([{ type: 'text', text: 'API Error: 500' }], {
    error: 'server_error',
    is_api_error_message: true,
  })
  const result = { type: 'result', subtype: 'success', is_error: true, result: 'API Error: 500', api_error_status: 500 }
  const failed = readEvents(failing, result)
  expect(failed.entries.filter(({ type }) => type !== 'usage')).toEqual([{ type: 'error', at, text: 'API Error: 500' }])
  expect(failed.facts).toMatchObject({ lastMessage: null, result: { failed: true } })

  const recovered = readEvents(failing, assistant('Here I am.'), { ...result, is_error: false, result: 'Here I am.' })
  expect(recovered.facts).toMatchObject({ lastMessage: 'Here I am.', api_error: null, result: { failed: false } })
})

test('shows that the model server refuses and that the agent retries', () => {
  const retry = { type: 'system', subtype: 'api_retry', attempt: 1, max_retries: 10, retry_delay_ms: 2194 }
  const text = 'The model server refused (529 overloaded); try 1 of 10 follows in 2 s.'
  expect(readEvents({ ...retry, error_status: 529, error: 'overloaded' }).entries).toEqual([
    { type: 'error', at, text },
  ])
})

test('shows an MCP server that failed', () => {
  const servers = [
    { name: 'svc', status: 'failed' },
    { name: 'other', status: 'connected' },
  ]
  const { entries } = readEvents({ type: 'system', subtype: 'init', mcp_servers: servers })
  expect(entries).toEqual([{ type: 'error', at, text: 'The MCP server svc could not be reached.' }])
})

test('adds up tokens over turns, with those of the cache, and takes the cost as a running total', () => {
  const usage = { input_tokens: 1, cache_creation_input_tokens: 20, cache_read_input_tokens: 300, output_tokens: 5 }
  const result = { type: 'result', subtype: 'success', is_error: false, result: 'x', usage }
  const { facts, turns } = readEvents(
    { type: 'system', subtype: 'init' },
    { ...result, total_cost_usd: 0.5, queued_turn_count: 1 },
    { type: 'system', subtype: 'init' },
    assistant('y'),
    { type: 'system', subtype: 'notice' },
    { ...result, total_cost_usd: 0.75 },
  )
  expect(facts.usage).toEqual({ input_tokens: 642, output_tokens: 10, cost_usd: 0.75 })
  expect(turns).toEqual(['turn', 'end, 1 queued', 'turn', 'turn', 'end, 0 queued'])
})

test('shows the text of a sub-agent, but not as the last message', () => {
  const { facts, entries } = readEvents(assistant('Mine.'), assistant('Theirs?', { parent_tool_use_id: 'toolu_1' }))
  expect(facts.lastMessage).toBe('Mine.')
  expect(entries).toHaveLength(2)
})

test('cuts huge and deeply nested inputs and results', () => {
  // Too deep for JSON.stringify, so it is written by hand.
  const deep = `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`
  const input = { file_path: 'a', content: 'x'.repeat(600_000), deep: 'DEEP' }
  const { entries } = read(
    [
      assistant([{ type: 'tool_use', id: 't', name: 'Write', input }]),
      { type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: 't', content: 'y'.repeat(300_000) }] } },
    ].map((event) => Buffer.from(`${JSON.stringify(event).replace('"DEEP"', deep)}\n`)),
  )
  expect(entries.map((entry) => JSON.stringify(entry).length)).toEqual([
    expect.toSatisfy((length: number) => length < 210_000),
    expect.toSatisfy((length: number) => length < 210_000),
  ])
  expect(entries[0]).toMatchObject({ diff: null, target: 'a' })
})
