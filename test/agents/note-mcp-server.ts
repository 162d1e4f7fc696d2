import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNodeHandler } from '@modelcontextprotocol/node'
import type { NodeIncomingMessageLike } from '@modelcontextprotocol/node'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'

/** A real MCP endpoint with one tool, `svc_note {text}`, behind a bearer token. */
export interface NoteMcpServer extends AsyncDisposable {
  readonly url: string
  readonly token: string
  /** The arguments of all calls, in order. */
  readonly notes: readonly string[]
}

/** Starts it on a port of its own. Requests without the token are refused. */
export async function startNoteMcpServer(): Promise<NoteMcpServer> {
  const token = 'a-token-of-this-run'
  const notes: string[] = []
  const handle = toNodeHandler(
    createMcpHandler(() => {
      const server = new McpServer({ name: 'notes', version: '1.0.0' })
      server.registerTool('svc_note', { inputSchema: z.object({ text: z.string() }) }, ({ text }) => {
        notes.push(text)
        return { content: [{ type: 'text', text: `Noted: ${text}` }] }
      })
      return server
    }),
  )
  const server = createServer((request, response) => {
    if (request.headers.authorization !== `Bearer ${token}`) return void response.writeHead(401).end()
    void handle(request as NodeIncomingMessageLike, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    token,
    notes,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
