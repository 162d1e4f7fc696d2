import { afterEach, beforeEach, expect, test } from 'vitest'
import { scripted, startModelServer } from '../../fakes/model-server.ts'
import type { ModelServer } from '../../fakes/model-server.ts'

let server: ModelServer
beforeEach(async () => {
  server = await startModelServer({ apiKey: 'key', script: { steps: [{ say: 'standing' }] } })
})
afterEach(async () => {
  await server.close()
})

const schema = (...required: string[]) => ({
  properties: Object.fromEntries(required.map((name) => [name, { type: 'string' }])),
  required,
})
const tools = [
  { name: 'Write', input_schema: schema('file_path', 'content', 'reason') },
  { name: 'Bash', input_schema: schema('command') },
  { name: 'ToolSearch', input_schema: schema('query') },
]
const called = (name: string) => ({ role: 'assistant', content: [{ type: 'tool_use', name, input: {} }] })
const result = { role: 'user', content: [{ type: 'tool_result', content: 'ok' }] }

const ask = (
  messages: readonly object[],
  more: object = {},
  headers: Record<string, string> = { 'x-api-key': 'key' },
) =>
  fetch(`${server.url}/v1/messages?beta=true`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ model: 'm', tools, messages, ...more }),
  })

async function answer(messages: readonly object[], more: object = {}): Promise<unknown> {
  const { content } = (await (await ask(messages, more)).json()) as { content: Record<string, unknown>[] }
  return content.map(({ id: _id, ...block }) => block)
}

const person = (text: string) => ({ role: 'user', content: [{ type: 'text', text }] })
const words = (text: string) => [{ type: 'text', text }]
const call = (name: string, input: object) => [{ type: 'tool_use', name, input }]

test('plays the prompt’s script by counting tool calls, and repeats its last step', async () => {
  const prompt = person(
    scripted('Go <on>.', [{ write: { path: 'a', content: '</model-script>' } }, { shell: 'ls' }, { say: 'end' }]),
  )
  const write = call('Write', { file_path: 'a', content: '</model-script>', reason: 'scripted' })
  expect(await answer([prompt])).toEqual(write)
  expect(await answer([prompt, called('Write'), result])).toEqual(call('Bash', { command: 'ls' }))
  const done = [prompt, called('Write'), result, called('Bash'), result]
  expect(await answer(done)).toEqual(words('end'))
  expect(await answer([...done, person('Thanks.')])).toEqual(words('end'))
  expect(server.log.map(({ index, tool }) => [index, tool])).toEqual([
    [0, 'Write'],
    [1, 'Bash'],
    [2, null],
    [2, null],
  ])
})

test('restarts the count for a later script, even within a turn', async () => {
  const first = person(scripted('One.', [{ shell: 'ls' }, { say: 'first' }]))
  const second = scripted('Two.', [{ shell: 'pwd' }, { say: 'second' }])
  expect(await answer([first, called('Bash'), result, person(second)])).toEqual(call('Bash', { command: 'pwd' }))
  const midTurn = [{ type: 'text', text: `ok\nThe user sent a new message while you were working:\n${second}` }]
  const surfaced = { role: 'user', content: [{ type: 'tool_result', content: midTurn }] }
  expect(await answer([first, called('Bash'), surfaced])).toEqual(call('Bash', { command: 'pwd' }))
  expect(await answer([first, called('Bash'), surfaced, called('Bash'), result])).toEqual(words('second'))
})

test('looks a deferred tool up first, and reports one that is not offered', async () => {
  const prompt = person(scripted('Go.', [{ tool: { name: 'svc_note', args: { text: 'x' } } }]))
  const mention = { system: 'Deferred tools: mcp__svc__svc_note' }
  expect(await answer([prompt], mention)).toEqual(call('ToolSearch', { query: 'select:mcp__svc__svc_note' }))
  const offered = { ...mention, tools: [...tools, { name: 'mcp__svc__svc_note', input_schema: schema('text') }] }
  const found = [prompt, called('ToolSearch'), result]
  expect(await answer(found, offered)).toEqual(call('mcp__svc__svc_note', { text: 'x' }))
  expect(JSON.stringify(await answer(found, mention))).toContain('No offered tool fits')
})

test('runs a command in a shell that takes a list, of commands or of words', async () => {
  const prompt = person(scripted('Go.', [{ shell: 'ls' }]))
  const list = (key: string) => ({ properties: { [key]: { type: 'array' } }, required: [key] })
  const commands = { tools: [{ name: 'run_commands', input_schema: list('commands') }] }
  expect(await answer([prompt], commands)).toEqual(call('run_commands', { commands: ['ls'] }))
  const exec = { tools: [{ name: 'exec_command', input_schema: list('cmd') }] }
  expect(await answer([prompt], exec)).toEqual(call('exec_command', { cmd: ['bash', '-lc', 'ls'] }))
})

test('streams the same answer as events', async () => {
  const response = await ask([person(scripted('Go.', [{ say: 'hm', shell: 'ls' }]))], { stream: true })
  const events = (await response.text())
    .split('\n')
    .flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []))
  const parsed = events.map((event) => JSON.parse(event) as { type: string; delta?: object })
  expect(parsed.map(({ type }) => type)).toEqual([
    'message_start',
    ...['content_block_start', 'content_block_delta', 'content_block_stop'],
    ...['content_block_start', 'content_block_delta', 'content_block_stop'],
    'message_delta',
    'message_stop',
  ])
  expect(parsed.filter(({ type }) => type === 'content_block_delta').map(({ delta }) => delta)).toEqual([
    { type: 'text_delta', text: 'hm' },
    { type: 'input_json_delta', partial_json: '{"command":"ls"}' },
  ])
})

test('plays the default script without one, and none for a request without tools', async () => {
  expect(await answer([person('Go.')])).toEqual(words('standing'))
  server.setScript({ steps: [{ say: 'another' }] })
  expect(await answer([person('Go.')])).toEqual(words('another'))
  expect(await answer([person('Title?')], { tools: [] })).toEqual(words('ok'))
  expect(server.log.map(({ index }) => index)).toEqual([0, 0, -1])
})

test('answers errors, wrong keys, other paths and probes', async () => {
  const failing = [person(scripted('Go.', [{ error: 429 }]))]
  const bearer = { authorization: 'Bearer key' }
  const responses = [
    await ask(failing),
    await ask([person('Go.')], {}, { 'x-api-key': 'wrong' }),
    await ask([person('Go.')], {}, bearer),
    await fetch(server.url, { method: 'HEAD' }),
    await fetch(`${server.url}/v1/nothing`, { method: 'POST', headers: bearer, body: '{}' }),
    await fetch(`${server.url}/v1/messages`, { method: 'POST', headers: bearer, body: '{' }),
  ]
  expect(responses.map(({ status }) => status)).toEqual([429, 401, 200, 200, 404, 400])
})

test('closes despite a slow answer, and lets a test wait for a call', async () => {
  const asked = ask([person(scripted('Go.', [{ say: 'late', delay: 600_000 }]))]).catch((error: unknown) => error)
  expect(await server.waitForCall(({ index }) => index === 0)).toMatchObject({ step: { say: 'late' }, model: 'm' })
  await server.close()
  expect(await asked).toBeInstanceOf(TypeError)
})
