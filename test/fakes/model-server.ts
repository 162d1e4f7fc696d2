import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chooseStep } from './model-server/choose-step.ts'
import type { ModelScript, ModelStep } from './model-server/choose-step.ts'
import { playStep } from './model-server/play-step.ts'
import { chat } from './model-server/wires/chat.ts'
import { gemini } from './model-server/wires/gemini.ts'
import { messages } from './model-server/wires/messages.ts'
import { responses } from './model-server/wires/responses.ts'
import { sendJson } from './model-server/wires/wire.ts'

export type { ModelScript, ModelStep } from './model-server/choose-step.ts'
export { scripted } from './model-server/choose-step.ts'

/** One requested turn. */
export interface ModelCall {
  readonly path: string
  readonly model: string
  /** The played step of the script; -1 for a side request (a title, a probe), which plays none. */
  readonly index: number
  readonly step: ModelStep | null
  /** The tool that the agent was told to call; null for text. */
  readonly tool: string | null
  /** The latest prompt in the request. */
  readonly prompt: string
  readonly tools: readonly string[]
  /** Every text of the request. */
  readonly said: string
}

export interface ModelServerOptions {
  /** The script to play when the prompt contains none. */
  readonly script?: ModelScript
  readonly port?: number
  /** The name by which agents reach it. Unless it is the loopback address, other machines do too. */
  readonly host?: string
  /** Requests must carry this as `x-api-key`, `x-goog-api-key` or bearer token, if given. */
  readonly apiKey?: string
}

export interface ModelServer extends AsyncDisposable {
  readonly url: string
  /** The turns in the order of their requests; grows. */
  readonly log: readonly ModelCall[]
  setScript(script: ModelScript): void
  /** Resolves with the first matching call, past or future. */
  waitForCall(fits: (call: ModelCall) => boolean): Promise<ModelCall>
  close(): Promise<void>
}

const loopback = '127.0.0.1'

/**
 * A scripted model server that speaks the protocols of coding agents, so that real ones do known things offline. It
 * is stateless: it finds the step to play by counting the tool calls since the prompt, so any number of agents can
 * share one server.
 */
export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  let script = options.script ?? { steps: [{ say: 'Nothing to do.' }] }
  const log: ModelCall[] = []
  const waiting = new Set<(call: ModelCall) => void>()
  const closing = new AbortController()
  const note = (call: ModelCall): void => {
    log.push(call)
    for (const look of waiting) look(call)
  }
  const server = createServer((request, response) => {
    answer(request, response, { script: () => script, note, apiKey: options.apiKey, closed: closing.signal }).catch(
      (error: unknown) => sendError(response, 500, error instanceof Error ? error.message : String(error)),
    )
  })
  const { host = loopback } = options
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, host === loopback ? loopback : '0.0.0.0', resolve)
  })
  const close = async (): Promise<void> => {
    closing.abort()
    if (!server.listening) return
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  }
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    log,
    setScript: (next) => (script = next),
    waitForCall: (fits) => {
      const found = log.find(fits)
      if (found) return Promise.resolve(found)
      return new Promise((resolve) => {
        const look = (call: ModelCall): void => {
          if (!fits(call)) return
          waiting.delete(look)
          resolve(call)
        }
        waiting.add(look)
      })
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** As a provider words them, without the status. */
const refusals: Readonly<Record<number, string>> = {
  401: 'Incorrect API key provided.',
  429: 'You are sending requests too quickly.',
}

const wires = [messages, responses, chat, gemini]

/** The parts of a request's body that all wires share. */
interface ModelBody {
  readonly model?: string
  readonly stream?: boolean
}

interface AnswerContext {
  readonly script: () => ModelScript
  readonly note: (call: ModelCall) => void
  readonly apiKey: string | undefined
  readonly closed: AbortSignal
}

async function answer(request: IncomingMessage, response: ServerResponse, context: AnswerContext): Promise<void> {
  const path = new URL(request.url ?? '/', 'http://localhost').pathname
  // Agents probe the server before they use it.
  if (request.method === 'HEAD') return void response.writeHead(200).end()
  if (request.method === 'GET' && path.endsWith('/models'))
    return sendJson(response, 200, { object: 'list', data: [], models: [], has_more: false })
  const body = await readBody(request)
  if (body === null) return sendError(response, 400, 'The body is not JSON.')
  if (context.apiKey !== undefined && !keysOf(request).includes(context.apiKey)) {
    return sendError(response, 401, 'The API key is wrong.')
  }
  if (/\/count_tokens$|:countTokens$/.test(path)) {
    return sendJson(response, 200, { input_tokens: 100, totalTokens: 100 })
  }
  const wire = wires.find((one) => one.match(path) !== null)
  if (request.method !== 'POST' || !wire) return sendError(response, 404, `There is no ${request.method} ${path}.`)
  const named = wire.match(path)
  const model = body.model ?? named?.model ?? 'scripted'
  const conversation = wire.read(body)
  const chosen = conversation.tools.length > 0 ? chooseStep(conversation, context.script()) : null
  const turn = chosen ? playStep(chosen, conversation) : { say: 'ok', call: null }
  context.note({
    path,
    model,
    index: chosen?.index ?? -1,
    step: chosen?.step ?? null,
    tool: turn.call?.tool.name ?? null,
    prompt: conversation.prompts.at(-1)?.text ?? '',
    tools: conversation.tools.map((tool) => tool.name),
    said: conversation.said,
  })
  const { delay = 0, error, headers = {} } = chosen?.step ?? {}
  if (delay > 0 && !(await waited(delay, response, context.closed))) return
  if (error !== undefined) {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    return sendError(response, error, refusals[error] ?? `This step of the script is an error ${error}.`)
  }
  wire.answer(response, turn, { model, stream: named?.stream ?? body.stream === true })
}

/** A slow model; returns false if the agent or the test left before. */
function waited(ms: number, response: ServerResponse, closed: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (there: boolean): void => {
      clearTimeout(timer)
      closed.removeEventListener('abort', gone)
      response.off('close', gone)
      resolve(there)
    }
    const gone = (): void => settle(false)
    const timer = setTimeout(() => settle(true), ms)
    closed.addEventListener('abort', gone)
    response.on('close', gone)
  })
}

async function readBody(request: IncomingMessage): Promise<ModelBody | null> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  if (chunks.length === 0) return {}
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as ModelBody
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

const keysOf = ({ headers }: IncomingMessage): unknown[] => [
  headers['x-api-key'],
  headers['x-goog-api-key'],
  headers.authorization?.replace(/^Bearer /i, ''),
]

function sendError(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) return void response.destroy()
  const type = status === 429 ? 'rate_limit_error' : status === 401 ? 'authentication_error' : 'api_error'
  sendJson(response, status, { type: 'error', error: { type, message } })
}
