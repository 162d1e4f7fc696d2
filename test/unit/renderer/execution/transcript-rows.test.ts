import { describe, expect, test } from 'vitest'
import type { Ask, AskOption, TranscriptEntry } from '../../../../src-shared/contract/executions.ts'
import { conflictRequestText } from '../../../../src-shared/contract/conflict-request.ts'
import { askedConflicts } from '../../../../src-renderer/formatters/conflict-request.ts'
import { withoutAsked } from '../../../../src-renderer/features/execution/asked-rows.ts'
import { logItems } from '../../../../src-renderer/features/execution/log-items.ts'
import { createTranscriptRows, LINES_A_ROW } from '../../../../src-renderer/features/execution/transcript-rows.ts'

const at = '2026-11-21T09:30:00.000Z'
const call = (id: string, action: 'read' | 'run' = 'run'): Extract<TranscriptEntry, { type: 'tool_call' }> => ({
  type: 'tool_call',
  at,
  id,
  tool: 'Tool',
  action,
  target: `${id}.ts`,
  input: {},
  diff: null,
})
const result = (id: string, text = 'done'): TranscriptEntry => ({ type: 'tool_result', at, id, ok: true, text })

function rowsOf(...entries: TranscriptEntry[]) {
  const builder = createTranscriptRows()
  builder.append(entries)
  return builder.rows()
}

describe('the rows of a transcript', () => {
  test('tells Copse’s instructions about a conflict from the words of a person', () => {
    const prompt = (text: string): TranscriptEntry => ({ type: 'prompt', at, text })
    const text = `${conflictRequestText('main', 'svc/x', 1)} This time it is your part.`
    const rows = rowsOf(prompt('Fix it'), prompt('Spell it out.'), prompt(text))
    expect(rows.map(({ kind }) => kind)).toEqual(['start', 'person', 'conflict'])
    // They are folded.
    const items = (isOpen: boolean) =>
      logItems(rows.slice(2), { isOpen: () => isOpen, live: true, isUnfolded: () => false })
    expect(items(false).map(({ kind }) => kind)).toEqual(['row'])
    expect(items(true).map(({ kind }) => kind)).toEqual(['row', 'lines'])
    expect(askedConflicts(text)).toBe('1 conflict with main')
  })

  test('puts a result into its call, even after other calls', () => {
    const rows = rowsOf(call('a'), call('b'), result('b', 'B'), result('a', 'A'))
    expect(rows.map((row) => (row.kind === 'tool' ? row.calls.map((pair) => pair.result?.text) : row.kind))).toEqual([
      ['A'],
      ['B'],
    ])
  })

  test('says a command that needs permission once', () => {
    const allow: AskOption = { id: 'allow', label: 'Allow', description: null, kind: 'allow_once' }
    const asked: TranscriptEntry = { type: 'question', at, text: 'Wants to run a.ts', ask_id: 'a1', options: [allow] }
    const answer = { type: 'answer', at, ask_id: 'a1', text: 'Allow', by: 'user:ada' } as const
    expect(rowsOf(call('a'), asked, answer, result('a')).map(({ kind }) => kind)).toEqual(['tool', 'answer'])
  })

  test('shows structured questions and their answers as sentences, whatever the tool is called', () => {
    const questions = ['Which colour?', 'Which size?'].map((question) => ({ question, options: [{ label: 'Blue' }] }))
    const asks: TranscriptEntry = { ...call('a'), action: 'other', tool: 'AnyName', target: null, input: { questions } }
    const question = (text: string, ask_id: string) => ({ type: 'question', at, text, ask_id }) as const
    const answer = (ask_id: string) => ({ type: 'answer', at, ask_id, text: 'Blue', by: 'user:ada' }) as const
    const rows = rowsOf(
      ...[asks, question('Which colour?', 'a1'), answer('a1'), question('Which size?', 'a2'), answer('a2')],
      result('a', 'User has answered'),
    )
    expect(rows.map((row) => [row.kind, row.key, 'text' in row ? row.text : null])).toEqual([
      ['question', 0, 'Which colour?'],
      ['answer', 1, 'Blue'],
      ['question', 2, 'Which size?'],
      ['answer', 3, 'Blue'],
    ])
    // No one was asked: the call itself stays, in words.
    const [unasked] = rowsOf(asks)
    const [, detail] = unasked ? logItems([unasked], { isOpen: () => true, live: true, isUnfolded: () => false }) : []
    expect(detail).toMatchObject({ heading: null, lines: ['Which colour?', '  Blue', '', 'Which size?', '  Blue'] })
  })

  test('leaves what the box asks to the box', () => {
    const open = { ...call('b'), target: 'npm install' }
    const ask = { id: 'a1', kind: 'permission', tool: 'Tool', target: 'npm install' } as Ask
    expect(withoutAsked(rowsOf(call('a'), open), [ask]).map(({ key }) => key)).toEqual([0])
    expect(withoutAsked(rowsOf(call('a'), open, result('b')), [ask]).map(({ key }) => key)).toEqual([0, 1])
    const question = { type: 'question', at, text: 'Which?', ask_id: 'a2' } as const
    const asked = { ...ask, id: 'a2', kind: 'question' } as Ask
    expect(withoutAsked(rowsOf(call('a'), question), [asked]).map(({ key }) => key)).toEqual([0])
  })

  test('shows requests and answers as rows, and the final question once', () => {
    const asked = { type: 'question', at, text: 'Asks to run ls', ask_id: 'a1' } as const
    const answer = { type: 'answer', at, ask_id: 'a1', text: 'Reject: use git', by: 'user:ada' } as const
    expect(rowsOf(asked, answer, { type: 'question', at, text: 'Is it right?' })).toEqual([
      { kind: 'question', key: 0, at, text: 'Asks to run ls', askId: 'a1' },
      { kind: 'answer', key: 1, at, text: 'Reject: use git', by: 'ada' },
    ])
  })

  test('keeps a null result for a call without an answer', () => {
    expect(rowsOf(call('a'))).toMatchObject([{ kind: 'tool', calls: [{ result: null }] }])
  })

  test('shows a result without a call as output', () => {
    expect(rowsOf(result('lost', 'words'))).toEqual([
      { kind: 'output', key: 0, at, stream: 'stdout', lines: ['words'], times: [at], block: 0 },
    ])
  })

  test('groups consecutive reads until another action', () => {
    const rows = rowsOf(call('a', 'read'), result('a'), call('b', 'read'), call('c'), call('d', 'read'))
    expect(rows.map((row) => (row.kind === 'tool' ? row.calls.length : 0))).toEqual([2, 1, 1])
  })

  test('groups output by stream and joins it at line ends', () => {
    const rows = rowsOf(
      { type: 'stdout', at, text: 'one' },
      { type: 'stdout', at, text: 'two\n' },
      { type: 'stdout', at, text: 'three' },
      { type: 'stderr', at, text: 'oh' },
    )
    expect(rows).toEqual([
      { kind: 'output', key: 0, at, stream: 'stdout', lines: ['one', 'two', 'three'], times: [at, at, at], block: 0 },
      { kind: 'output', key: 1, at, stream: 'stderr', lines: ['oh'], times: [at], block: 0 },
    ])
  })

  test('keeps a row small however much is printed, and all output in one block', () => {
    const text = Array.from({ length: 100 }, (_, n) => `line ${n}`).join('\n')
    const rows = rowsOf({ type: 'stdout', at, text }, { type: 'stdout', at, text }, call('a'), {
      type: 'stdout',
      at,
      text: 'more',
    })
    const output = rows.filter((row) => row.kind === 'output')
    expect(output.map(({ key, block, lines }) => [key, block, lines.length])).toEqual([
      ...[0, 1, 2, 3, 4].map((key) => [key, 0, LINES_A_ROW]),
      [6, 6, 1],
    ])
    expect(output.slice(0, 5).flatMap(({ lines }) => lines)).toEqual([...text.split('\n'), ...text.split('\n')])
  })

  test('takes the first prompt as start, later ones as messages, and a repeated start once', () => {
    const prompt = (text: string): TranscriptEntry => ({ type: 'prompt', at, text })
    expect(rowsOf(prompt('do it'), prompt('do it'), prompt('and this')).map((row) => row.kind)).toEqual([
      'start',
      'person',
    ])
  })

  test('adds up usage without a row', () => {
    const builder = createTranscriptRows()
    builder.append([
      { type: 'usage', at, input_tokens: 10, output_tokens: 5, cost_usd: null },
      { type: 'usage', at, input_tokens: 20, output_tokens: 5, cost_usd: 0.5 },
    ])
    expect([builder.rows(), builder.totals()]).toEqual([[], { tokens: 40, cost_usd: 0.5 }])
  })

  test('replaces a growing row by an object with the same key, and keeps the others', () => {
    const builder = createTranscriptRows()
    builder.append([{ type: 'message', at, text: 'hello' }, call('a')])
    const before = builder.rows()
    builder.append([result('a')])
    const after = builder.rows()
    expect(after[0]).toBe(before[0])
    expect(after[1]).not.toBe(before[1])
    expect(after[1]?.key).toBe(before[1]?.key)
  })
})
