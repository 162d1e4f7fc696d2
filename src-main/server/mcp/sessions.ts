import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { z } from 'zod'

/** The fields that link a message to another one. */
const Message = z.looseObject({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string(),
  params: z.looseObject({ requestId: z.union([z.string(), z.number()]).optional() }).optional(),
})

/**
 * Handles cancellations, which clients of the older protocol send as separate messages with their session's ID.
 * Stores nothing else, so a client whose session started before a restart notices nothing.
 */
export interface McpSessions {
  /** Registers the request until its response is sent; the signal aborts when its client cancels it. */
  begin(headers: IncomingHttpHeaders, body: unknown, response: ServerResponse): AbortSignal
}

const header = 'mcp-session-id'

export function createMcpSessions(): McpSessions {
  const open = new Map<string, AbortController>()
  return {
    begin: (headers, body, response) => {
      const cancel = new AbortController()
      const message = Message.safeParse(body).data
      const session = headers[header]
      if (message?.method === 'initialize') response.setHeader(header, randomUUID())
      if (message === undefined || typeof session !== 'string') return cancel.signal
      const cancelled = message.params?.requestId
      if (message.method === 'notifications/cancelled' && cancelled !== undefined) {
        open.get(keyOf(session, cancelled))?.abort()
      }
      if (message.id !== undefined) {
        const key = keyOf(session, message.id)
        open.set(key, cancel)
        response.once('close', () => {
          if (open.get(key) === cancel) open.delete(key)
        })
      }
      return cancel.signal
    },
  }
}

const keyOf = (session: string, id: string | number) => JSON.stringify([session, id])
