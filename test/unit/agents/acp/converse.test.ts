import { expect, test } from 'vitest'
import type { AcpAgent } from '../../../../src-main/agents/acp/acp-agent.ts'
import { anyAcpAgent } from '../../../../src-main/agents/acp/definition.ts'
import { converseOverAcp } from '../../../../src-main/agents/acp/converse.ts'
import { copilot } from '../../../../src-main/agents/copilot/definition.ts'
import { play, runOf } from '../play-recording.ts'
import type { Played } from '../play-recording.ts'

const answer = (id: number, result: unknown): string => JSON.stringify({ jsonrpc: '2.0', id, result })
const refusal = (id: number, code: number, message: string, data?: unknown): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data } })
const update = (fields: object): string =>
  JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's1', update: fields } })
const says = (text: string): string => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } })

const hello = answer(0, {
  protocolVersion: 1,
  agentCapabilities: { loadSession: true, mcpCapabilities: { http: true } },
})
const opened = answer(1, { sessionId: 's1' })
const done = answer(2, { stopReason: 'end_turn' })

const talk = (lines: readonly string[], about = runOf(), agent: AcpAgent = anyAcpAgent): Promise<Played> =>
  play(lines, (run, listener) => converseOverAcp(agent, run, listener), about)

const request = (played: Played, method: string): unknown =>
  played.written
    .map((line) => JSON.parse(line) as { method?: string; params?: unknown })
    .find((one) => one.method === method)?.params

test('sends the MCP server and its token over stdin', async () => {
  const mcp = { url: 'http://127.0.0.1:1/mcp', token: 'secret' }
  const played = await talk([hello, opened, says('Done.'), done], runOf({ mcp }))
  const headers = [{ name: 'Authorization', value: 'Bearer secret' }]
  expect(request(played, 'session/new')).toEqual({
    cwd: '/somewhere/tree',
    mcpServers: [{ type: 'http', name: 'svc', url: mcp.url, headers }],
  })
  expect(JSON.stringify(played.entries)).not.toContain('secret')
})

test('chooses a mode without questions and allows what is still asked once', async () => {
  const modes = {
    currentModeId: 'default',
    availableModes: [
      { id: 'default', name: 'D' },
      { id: 'yolo', name: 'Y' },
    ],
  }
  const options = ['allow_always', 'allow_once', 'reject_once'].map((kind) => ({ optionId: kind, name: kind, kind }))
  const toolCall = { toolCallId: 'c1', title: 'Run it', kind: 'execute', rawInput: { command: 'ls' } }
  const params = { sessionId: 's1', toolCall, options }
  const played = await talk([
    hello,
    answer(1, { sessionId: 's1', modes }),
    answer(2, {}),
    JSON.stringify({ jsonrpc: '2.0', id: 'p', method: 'session/request_permission', params }),
    answer(3, { stopReason: 'end_turn' }),
  ])
  expect(request(played, 'session/set_mode')).toEqual({ sessionId: 's1', modeId: 'yolo' })
  expect(played.entries).toMatchObject([{ type: 'tool_call', action: 'run', target: 'ls' }])
  expect(played.written.map((line) => JSON.parse(line) as object)).toContainEqual({
    jsonrpc: '2.0',
    id: 'p',
    result: { outcome: { outcome: 'selected', optionId: 'allow_once' } },
  })
})

test('shows no replayed turns of a loaded session', async () => {
  const played = await talk(
    [
      hello,
      says('Old words.'),
      update({ sessionUpdate: 'tool_call', toolCallId: 'c0', title: 'x', rawInput: { a: 1 } }),
      answer(1, {}),
      says('New '),
      says('words.'),
      done,
    ],
    runOf({ session_id: 's1' }),
  )
  expect(request(played, 'session/load')).toMatchObject({ sessionId: 's1', cwd: '/somewhere/tree' })
  expect(played.entries).toMatchObject([{ type: 'message', text: 'New words.' }])
  expect(played.result).toMatchObject({ session_id: 's1', conclusion: 'talked', message: 'New words.' })
})

test('reports a session that is gone and does not keep it', async () => {
  const played = await talk(
    [hello, refusal(1, -32603, 'Internal error', { details: 'No such session' })],
    runOf({ session_id: 's1' }),
  )
  expect(played.result).toMatchObject({ failed: true, session_id: null, conclusion: 'silent' })
  expect(played.result.message).toBe("The session s1 can't be taken up: Internal error: No such session")
})

test('says what to do when the agent needs a sign-in', async () => {
  const played = await talk([hello, refusal(1, -32000, 'Authentication required')], runOf(), copilot)
  expect(played.result).toMatchObject({ failed: true, conclusion: 'silent' })
  expect(played.result.message).toBe('Copilot CLI: Authentication required. Run `copilot login` once to sign in.')
})

test.each([
  [
    'an empty purse',
    refusal(2, -32603, 'Internal error', { details: 'You exceeded your current quota' }),
    'limit',
    true,
  ],
  ['too many requests', refusal(2, 429, '{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}'), 'limit', true],
  ['too many tokens in a turn', answer(2, { stopReason: 'max_tokens' }), 'limit', true],
  ['a refusal of the model', answer(2, { stopReason: 'refusal' }), 'silent', true],
  ['another error', refusal(2, -32603, 'The model server answered 500'), 'silent', true],
  ['nothing', done, 'silent', false],
])('reports %s at the end of a turn', async (_name, end, conclusion, failed) => {
  const played = await talk([hello, opened, end])
  expect(played.result).toMatchObject({ conclusion, failed })
  expect(played.entries.map(({ type }) => type)).toEqual(failed ? ['error'] : [])
})

test('fails when the agent stops in the middle of a turn, and keeps its session', async () => {
  const played = await talk([hello, opened, '@2', says('I begin.')])
  expect(played.result).toMatchObject({
    failed: true,
    session_id: 's1',
    message: 'ACP agent ended in the middle of its turn.',
  })
  expect(played.entries).toMatchObject([{ type: 'message', text: 'I begin.' }])
})

test('fails the run when Copilot reports an error of its own', async () => {
  const played = await talk([hello, opened, says('Error: 400 No such model'), done], runOf(), copilot)
  expect(played.result).toMatchObject({ failed: true, message: 'Error: 400 No such model' })
})

test('keeps garbage visible and ignores unknown updates', async () => {
  const odd = [
    update({ sessionUpdate: 'agent_message_chunk', content: 5 }),
    'Updating…',
    '[1,2]',
    update({ sessionUpdate: 'new_kind', x: 1 }),
  ]
  const played = await talk([hello, opened, ...odd, says('Done.'), done])
  expect(played.entries.map(({ type }) => type)).toEqual(['stdout', 'stdout', 'stdout', 'message'])
  expect(played.result).toMatchObject({ conclusion: 'talked', failed: false })
})

test('shows a tool call once its input is known, and merges later updates', async () => {
  const call = {
    toolCallId: 'c1',
    sessionUpdate: 'tool_call',
    title: 'bash',
    kind: 'execute',
    status: 'pending',
    rawInput: { cwd: '/somewhere/tree' },
  }
  const more = { toolCallId: 'c1', sessionUpdate: 'tool_call_update' }
  const played = await talk([
    hello,
    opened,
    update(call),
    says('I wait.'),
    update({ ...more, status: 'in_progress', title: 'ls', rawInput: { command: 'ls' } }),
    update({ ...more, status: 'completed', rawOutput: { output: 'a', metadata: { exit: 1 } } }),
    done,
  ])
  expect(played.entries).toMatchObject([
    { type: 'message', text: 'I wait.' },
    { type: 'tool_call', tool: 'bash', action: 'run', target: 'ls' },
    { type: 'tool_result', id: 'c1', ok: false, text: 'a' },
  ])
})

test('sets model and effort as options of the session, and fails for one that does not exist', async () => {
  const option = (id: string, category: string): object => ({
    id,
    category,
    name: id,
    type: 'select',
    currentValue: 'x',
    options: [],
  })
  const configOptions = [option('model', 'model'), option('thinking', 'thought_level')]
  const config = { model: 'opus', effort: 'high' }
  const lines = [
    hello,
    answer(1, { sessionId: 's1', configOptions }),
    answer(2, { configOptions }),
    answer(3, { configOptions }),
  ]
  const played = await talk([...lines, '@4', says('Done.'), answer(4, { stopReason: 'end_turn' })], runOf({ config }))
  const chosen = played.written
    .map((line) => JSON.parse(line) as { method?: string; params?: unknown })
    .filter(({ method }) => method === 'session/set_config_option')
  expect(chosen.map(({ params }) => params)).toEqual([
    { sessionId: 's1', configId: 'model', value: 'opus' },
    { sessionId: 's1', configId: 'thinking', value: 'high' },
  ])
  expect(played.result).toMatchObject({ failed: false, message: 'Done.' })

  const without = await talk([hello, opened], runOf({ config: { effort: 'high' } }))
  expect(without.result).toMatchObject({ failed: true })
  expect(without.result.message).toBe('This agent has no setting for its effort. Leave the effort empty.')
})
