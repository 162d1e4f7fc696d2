import { orConnectionError, readError } from '../../src-shared/client/http-transport.ts'
import { createSseParser } from '../../src-shared/client/sse-parser.ts'
import { agreedVersionIn, headersOf, parseMessage, type McpMessage } from './mcp-message.ts'

/** A Streamable HTTP MCP endpoint for one client. Throws `ApiError` and `ConnectionError`. */
export interface McpEndpoint {
  /** Posts a message and passes on the answers until the response ends. */
  post(message: McpMessage, signal: AbortSignal): Promise<void>
  /** Passes on what an endpoint with sessions sends unasked; one without sessions sends nothing. */
  listen(signal: AbortSignal): Promise<void>
}

export interface McpEndpointOptions {
  readonly url: string
  readonly token: string
  /** Takes one message for the client, as JSON on one line. */
  send(message: string): Promise<void>
}

export function createMcpEndpoint({ url, token, send }: McpEndpointOptions): McpEndpoint {
  let version: string | null = null
  let session: string | null = null
  const request = async (method: string, headers: Record<string, string>, body: string | null, signal: AbortSignal) => {
    const known = { authorization: `Bearer ${token}`, ...(session !== null && { 'mcp-session-id': session }) }
    const init = { method, headers: { ...known, ...headers }, signal, ...(body !== null && { body }) }
    const response = await orConnectionError(fetch(url, init))
    session = response.headers.get('mcp-session-id') ?? session
    return response
  }
  return {
    post: async (message, signal) => {
      const headers = {
        ...headersOf(message, version),
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
      }
      const response = await request('POST', headers, JSON.stringify(message), signal)
      await handOn(response, async (answer) => {
        if (message.method === 'initialize') version = agreedVersionIn(answer) ?? version
        await send(JSON.stringify(answer))
      })
    },
    listen: async (signal) => {
      const headers = { ...headersOf({}, version), accept: 'text/event-stream' }
      const response = await request('GET', headers, null, signal)
      if (response.ok) await handOn(response, (message) => send(JSON.stringify(message)))
      else await response.body?.cancel()
    },
  }
}

/** Passes on every message of an answer as it arrives. */
async function handOn(response: Response, take: (message: McpMessage) => Promise<void>): Promise<void> {
  if (response.ok && response.headers.get('content-type')?.startsWith('text/event-stream') === true) {
    const parser = createSseParser()
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    for (;;) {
      const piece = await orConnectionError(
        reader?.read() ?? Promise.resolve({ done: true as const, value: undefined }),
      )
      if (piece.done) return
      for (const { data } of parser.push(piece.value)) await takeIfMessage(data, take)
    }
  }
  // A protocol error arrives as a message too, whatever its HTTP status.
  const copy = response.clone()
  if ((await takeIfMessage(await orConnectionError(response.text()), take)) || response.ok) return
  throw await readError(copy)
}

async function takeIfMessage(text: string, take: (message: McpMessage) => Promise<void>): Promise<boolean> {
  const message = parseMessage(text)
  if (message !== null) await take(message)
  return message !== null
}
