import { writeFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'

/**
 * An agent that speaks ACP on its stdin and stdout and asks before each call that its prompt lists between `<asks>`
 * and `</asks>`. It writes what it may; its last message contains the answers. Calls between `<does>` and `</does>` it
 * does without asking. If its client shows forms, it first asks that between `<form>` and `</form>`.
 */

interface Call {
  readonly title: string
  readonly kind: string
  readonly rawInput: Readonly<Record<string, string>>
}
interface Message {
  readonly id?: number | string
  readonly method?: string
  readonly params?: {
    readonly cwd?: string
    readonly prompt?: readonly { readonly text: string }[]
    readonly clientCapabilities?: { readonly elicitation?: { readonly form?: object } }
  }
  readonly result?: {
    readonly outcome?: { readonly outcome: string; readonly optionId?: string }
    readonly action?: string
    readonly content?: object
  }
}

const send = (message: object): void => void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const waiting = new Map<number | string, (answer: string) => void>()
const options = ['allow_once', 'allow_always', 'reject_once'].map((kind) => ({
  optionId: `my-${kind}`,
  name: kind,
  kind,
}))
let cwd = ''
let showsForms = false
let asked = 0
/** The request that is answered at the end of the turn. */
let prompt: number | string | null = null

function ask(call: Call): Promise<string> {
  asked += 1
  const id = `ask-${asked}`
  const toolCall = { toolCallId: `call-${asked}`, status: 'pending', ...call }
  send({ id, method: 'session/request_permission', params: { sessionId: 's1', toolCall, options } })
  return new Promise((resolve) => waiting.set(id, resolve))
}

/** Resolves to the client's whole answer as JSON. */
function askForm(requestedSchema: unknown): Promise<string> {
  const params = { sessionId: 's1', mode: 'form', message: 'Which one?', requestedSchema }
  send({ id: 'form', method: 'elicitation/create', params })
  return new Promise((resolve) => waiting.set('form', resolve))
}

const toldCalls = (prompt: string, tag: string): readonly Call[] =>
  JSON.parse(new RegExp(`<${tag}>(.*)</${tag}>`, 's').exec(prompt)?.[1] ?? '[]') as readonly Call[]

async function act(call: Call): Promise<void> {
  asked += 1
  const toolCallId = `call-${asked}`
  const tell = (update: object): void =>
    send({ method: 'session/update', params: { sessionId: 's1', update: { toolCallId, ...update } } })
  tell({ sessionUpdate: 'tool_call', status: 'pending', ...call })
  const { path, content } = call.rawInput
  if (path !== undefined && content !== undefined) await writeFile(path, content)
  tell({ sessionUpdate: 'tool_call_update', status: 'completed' })
}

async function work(prompt: string): Promise<void> {
  for (const call of toldCalls(prompt, 'does')) await act(call)
  const calls = toldCalls(prompt, 'asks')
  const answers: string[] = []
  const form = /<form>(.*)<\/form>/s.exec(prompt)?.[1]
  if (form !== undefined) answers.push(showsForms ? await askForm(JSON.parse(form)) : 'no forms')
  for (const call of calls) {
    const answer = await ask(call)
    answers.push(answer)
    const { path, content } = call.rawInput
    if (answer === 'my-allow_once' && path !== undefined && content !== undefined) await writeFile(path, content)
  }
  const update = {
    sessionUpdate: 'agent_message_chunk',
    content: { type: 'text', text: `Answered: ${answers.join(' ')}.` },
  }
  send({ method: 'session/update', params: { sessionId: 's1', update } })
}

async function hear({ id, method, params, result }: Message): Promise<void> {
  if (method === undefined && id === 'form') waiting.get(id)?.(JSON.stringify(result))
  else if (method === undefined && id !== undefined) waiting.get(id)?.(result?.outcome?.optionId ?? 'cancelled')
  else if (method === 'initialize') {
    showsForms = params?.clientCapabilities?.elicitation?.form !== undefined
    send({ id, result: { protocolVersion: 1, agentCapabilities: {} } })
  } else if (method === 'session/new') {
    cwd = params?.cwd ?? ''
    process.chdir(cwd)
    send({ id, result: { sessionId: 's1' } })
  } else if (method === 'session/prompt') {
    prompt = id ?? null
    await work(params?.prompt?.[0]?.text ?? '')
    if (prompt !== null) send({ id, result: { stopReason: 'end_turn' } })
  } else if (method === 'session/cancel' && prompt !== null) {
    const usage = { inputTokens: 300, outputTokens: 60, totalTokens: 360 }
    send({ id: prompt, result: { stopReason: 'cancelled', usage } })
    prompt = null
  }
}

createInterface({ input: process.stdin }).on('line', (line) => void hear(JSON.parse(line) as Message))
