import type { McpEndpoint } from './mcp-endpoint.ts'
import { parseMessage, hasProtocolVersion, type McpMessage } from './mcp-message.ts'

export interface BridgeOptions {
  readonly endpoint: McpEndpoint
  /** The client's messages, one per line. */
  readonly lines: AsyncIterable<string>
  /** Sends one message to the client, as JSON on one line. */
  send(message: string): Promise<void>
  /** Describes an error to people. */
  explain(error: unknown): string
  /** Reports a problem that no answer can carry. */
  complain(text: string): void
}

type Id = string | number

/** A request of the client without an answer yet. */
interface Pending {
  readonly message: McpMessage
  readonly cancel: AbortController
}

/**
 * Carries an MCP client's messages between stdio and an endpoint. Ends when the client has closed its input and has
 * all answers.
 */
export async function bridgeMcp(options: BridgeOptions): Promise<void> {
  const pending = new Map<Id, Pending>()
  const work = new Set<Promise<void>>()
  const closing = new AbortController()
  const begin = (task: Promise<void>): Promise<void> => {
    const guarded: Promise<void> = task
      .catch((error: unknown) => {
        if (!closing.signal.aborted) options.complain(options.explain(error))
      })
      .finally(() => work.delete(guarded))
    work.add(guarded)
    return guarded
  }
  /** Later messages wait for the handshake, because they need the protocol version that it agrees on. */
  let handshake: Promise<void> = Promise.resolve()
  for await (const line of options.lines) {
    if (line.trim() === '') continue
    const message = parseMessage(line)
    if (message === null) {
      void begin(options.send(failed(null, "This line isn't a JSON-RPC message.", parseError)))
      continue
    }
    const before = handshake
    const done = begin(before.then(() => carry(message, pending, closing.signal, options)))
    if (message.method === 'initialize') handshake = done
    if (message.method === 'notifications/initialized') {
      void begin(done.then(() => options.endpoint.listen(closing.signal)))
    }
  }
  await handshake
  for (const { message, cancel } of pending.values()) if (isEndless(message)) cancel.abort()
  closing.abort()
  while (work.size > 0) await Promise.all(work)
}

const parseError = -32_700
const failedRequest = -32_000
const isEndless = ({ method }: McpMessage) => method === 'subscriptions/listen'

async function carry(
  message: McpMessage,
  pending: Map<Id, Pending>,
  closing: AbortSignal,
  options: BridgeOptions,
): Promise<void> {
  const { id } = message
  if (id !== undefined && message.method !== undefined) return ask({ ...message, id }, pending, options)
  const cancelled = cancelledBy(message, pending)
  cancelled?.cancel.abort()
  // Over HTTP the newer protocol has no cancel message; aborting the request cancels.
  if (cancelled && hasProtocolVersion(cancelled.message)) return
  await options.endpoint.post(message, closing)
}

/** Answers every request, even on failure, except one that the client cancelled. */
async function ask(
  message: McpMessage & { readonly id: Id },
  pending: Map<Id, Pending>,
  { endpoint, send, explain }: BridgeOptions,
): Promise<void> {
  const cancel = new AbortController()
  pending.set(message.id, { message, cancel })
  try {
    await endpoint.post(message, cancel.signal)
  } catch (error) {
    if (!cancel.signal.aborted) await send(failed(message.id, explain(error), failedRequest))
  } finally {
    pending.delete(message.id)
  }
}

function cancelledBy({ method, params }: McpMessage, pending: Map<Id, Pending>): Pending | undefined {
  const id = method === 'notifications/cancelled' ? params?.['requestId'] : undefined
  return typeof id === 'string' || typeof id === 'number' ? pending.get(id) : undefined
}

function failed(id: Id | null, message: string, code: number): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })
}
