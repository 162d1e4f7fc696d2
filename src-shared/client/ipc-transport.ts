import type { DesktopBridge, ReplyError, StreamReply } from '../contract/desktop.ts'
import { ApiError } from '../contract/errors.ts'
import type { StreamName } from '../contract/operations.ts'
import type { Transport } from './create-client.ts'

/** Creates a transport over the bridge that the preload provides on the window. */
export function createIpcTransport(bridge: DesktopBridge): Transport {
  return {
    call: async (name, input) => {
      const reply = await bridge.call(name, input)
      if (reply.ok) return reply.value
      throw rebuild(reply.error)
    },
    stream: (name, input, after, signal) => follow(bridge, name, input, after, signal),
  }
}

/** Subscribes when the first item is requested, and unsubscribes however the reader stops. */
async function* follow(
  bridge: DesktopBridge,
  name: StreamName,
  input: unknown,
  after: number | null,
  signal: AbortSignal,
): AsyncIterable<unknown> {
  if (signal.aborted) return
  const waiting: StreamReply[] = []
  let wake: () => void = () => undefined
  const onAbort = () => wake()
  signal.addEventListener('abort', onAbort)
  const unsubscribe = bridge.subscribe(name, input, after, (reply) => {
    waiting.push(reply)
    wake()
  })
  try {
    while (!signal.aborted) {
      const reply = waiting.shift()
      if (reply === undefined) await new Promise<void>((resolve) => (wake = resolve))
      else if (reply.kind === 'item') yield reply.item
      else if (reply.kind === 'failed') throw rebuild(reply.error)
      else return
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
    unsubscribe()
  }
}

function rebuild({ code, message, details }: ReplyError): ApiError {
  return new ApiError({ code, message, ...(details && { details }) })
}
