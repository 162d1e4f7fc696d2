import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { z } from 'zod'

/** As much of a message as ties it to another one. */
const Message = z.looseObject({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string(),
  params: z.looseObject({ requestId: z.union([z.string(), z.number()]).optional() }).optional(),
})

/**
 * What a client of the older protocol says in one message about another one, by the name of its session: that it is
 * cancelled. Nothing else is kept, so that a client whose session began before a restart goes on as if nothing were.
 */
export interface McpSessions {
  /** Notes the request until its answer is out; aborted when its client cancels it. */
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
