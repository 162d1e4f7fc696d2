import { expect, test } from 'vitest'
import { converseWithCodex } from '../../../../src-main/agents/codex/converse.ts'
import { play, runOf } from '../play-recording.ts'
import type { Played } from '../play-recording.ts'

const started = { type: 'thread.started', thread_id: 't1' }
const completed = { type: 'turn.completed', usage: { input_tokens: 5, cached_input_tokens: 2, output_tokens: 3 } }
const item = (fields: object): object => ({ type: 'item.completed', item: { id: 'i1', ...fields } })
const says = (text: string): object => item({ type: 'agent_message', text })

const talk = (...events: readonly object[]): Promise<Played> =>
  play(
    events.map((event) => JSON.stringify(event)),
    converseWithCodex,
  )

test('passes the prompt over stdin unchanged', async () => {
  const prompt = 'Say "hi" $(rm -rf .) ü🌲'
  const lines = [started, completed].map((event) => JSON.stringify(event))
  expect((await play(lines, converseWithCodex, runOf({ prompt }))).written).toEqual([prompt])
})

test('shows an error item as a warning, and a failed turn once, with the message of the API', async () => {
  const warned = await talk(started, item({ type: 'error', message: 'Unknown model' }), says('Done.'), completed)
  expect(warned.result).toMatchObject({ failed: false, conclusion: 'talked', message: 'Done.' })
  const message = JSON.stringify({ type: 'error', error: { type: 'api_error', message: 'No such model' } })
  const failed = await talk(started, { type: 'error', message }, { type: 'turn.failed', error: { message } })
  expect(failed.result).toMatchObject({ failed: true, conclusion: 'silent', message: 'No such model' })
  expect(failed.entries).toMatchObject([{ type: 'error', text: 'No such model' }])
})

test.each([
  ["You've hit your usage limit. Upgrade to Pro or try again at 5:00 PM.", 'limit'],
  ['exceeded retry limit, last status: 429 Too Many Requests', 'limit'],
  ['Quota exceeded. Check your plan and billing details.', 'limit'],
  ['stream disconnected before completion', 'silent'],
])('distinguishes %s', async (message, conclusion) => {
  const { result } = await talk(started, { type: 'turn.failed', error: { message } })
  expect(result).toMatchObject({ failed: true, conclusion })
})

test('recognizes a question at the end, and a run without text or work as silent', async () => {
  expect((await talk(started, says('Which one?'), completed)).result.conclusion).toBe('question')
  expect((await talk(started, completed)).result).toMatchObject({ conclusion: 'silent', failed: false })
  const acted = await talk(
    started,
    item({ type: 'command_execution', command: 'ls', exit_code: 0, status: 'completed' }),
    completed,
  )
  expect(acted.result.conclusion).toBe('done')
})

test('turns thinking, searches and changed files into entries, and ignores unknown items', async () => {
  const changes = ['a.txt', 'b.txt'].map((name) => ({ path: `/somewhere/tree/${name}`, kind: 'update' }))
  const { entries } = await talk(
    started,
    item({ type: 'reasoning', text: 'Hm.' }),
    item({ id: 'i2', type: 'web_search', query: 'vitest' }),
    item({ id: 'i3', type: 'file_change', changes, status: 'completed' }),
    item({ id: 'i4', type: 'todo_list', items: [] }),
    { type: 'later.event' },
    completed,
  )
  expect(entries).toMatchObject([
    { type: 'thinking', text: 'Hm.' },
    { type: 'tool_call', action: 'fetch', target: 'vitest' },
    { type: 'tool_result', ok: true },
    { type: 'tool_call', action: 'edit', target: 'a.txt and 1 more' },
    { type: 'tool_result', ok: true },
    { type: 'usage', input_tokens: 5, output_tokens: 3 },
  ])
})

test('subtracts earlier runs from the sum of a session', async () => {
  const lines = [started, says('Done.'), completed].map((event) => JSON.stringify(event))
  const session_usage = { input_tokens: 4, output_tokens: 1, cost_usd: null }
  const { result } = await play(lines, converseWithCodex, runOf({ session_id: 't1', session_usage }))
  expect(result.usage).toEqual({ input_tokens: 1, output_tokens: 2, cost_usd: null })
})
