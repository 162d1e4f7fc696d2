import { toNodeHandler } from '@modelcontextprotocol/node'
import type { NodeIncomingMessageLike } from '@modelcontextprotocol/node'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import type { AuthInfo, CallToolResult, StandardSchemaWithJSON } from '@modelcontextprotocol/server'
import type { FastifyInstance } from 'fastify'
import type { z } from 'zod'
import type { CallContext } from '../api/api.ts'
import type { Logger } from '../base/log.ts'
import { toApiError } from './http-errors.ts'
import { createMcpScope } from './mcp-scope.ts'
import { mcpTools } from './mcp-tools.ts'
import type { McpTool } from './mcp-tools.ts'
import { apiPrefix } from './rest.ts'
import type { RouteParts } from './rest.ts'

const instructions =
  'Copse keeps a board of tasks; agents work on them in git worktrees of their own. Inside an execution, project, ' +
  'task and execution default to yours. An error names a code and says what to do next.'

/**
 * The MCP endpoint: Streamable HTTP without sessions, for clients of both protocol eras. The token
 * may also come as `?token=`, for clients that can't set a header.
 */
export function addMcpRoute(
  app: FastifyInstance,
  parts: RouteParts,
  options: { readonly version: string; readonly log: Logger },
): { close(): Promise<void> } {
  const { guard, lifetime } = parts
  const onerror = (error: Error) => {
    options.log.debug({ err: error }, 'mcp request refused')
  }
  const handler = createMcpHandler(
    ({ authInfo }) => {
      const { principal, remote_address } = authInfo?.extra as unknown as Omit<CallContext, 'signal'>
      return createMcpServer(parts, { principal, remote_address, signal: lifetime }, options)
    },
    { onerror },
  )
  const serve = toNodeHandler(handler, { onerror })
  app.route({
    method: ['GET', 'POST', 'DELETE'],
    url: `${apiPrefix}/mcp`,
    onRequest: (request) => guard.admit(request, 'anyone', 'query'),
    handler: async (request, reply) => {
      const auth: AuthInfo = {
        token: '',
        clientId: 'svc',
        scopes: [],
        extra: { principal: guard.principalOf(request), remote_address: request.ip },
      }
      for (const [name, value] of Object.entries(reply.getHeaders())) {
        if (value !== undefined) reply.raw.setHeader(name, value)
      }
      reply.hijack()
      const message = Object.assign(request.raw, { auth }) as NodeIncomingMessageLike
      await serve(message, reply.raw, request.body)
    },
  })
  return { close: () => handler.close() }
}

function createMcpServer(
  { api }: RouteParts,
  context: CallContext,
  { version, log }: { readonly version: string; readonly log: Logger },
): McpServer {
  const server = new McpServer({ name: 'copse', version }, { instructions })
  const scope = createMcpScope(api, context)
  for (const [name, tool] of Object.entries<McpTool>(mcpTools)) {
    server.registerTool(
      name,
      {
        title: tool.title,
        description: tool.description,
        inputSchema: described(tool.input),
        annotations: { readOnlyHint: tool.readOnly, openWorldHint: false },
      },
      async (values: unknown): Promise<CallToolResult> => {
        try {
          return success(await tool.run(values, scope))
        } catch (error) {
          const body = toApiError(error, log).toBody()
          return { isError: true, content: [{ type: 'text', text: JSON.stringify(body) }] }
        }
      },
    )
  }
  return server
}

/** Shows the schema and lets everything through: the tool itself refuses, with the API's code and message. */
function described(input: z.ZodObject): StandardSchemaWithJSON<unknown> {
  const { jsonSchema } = input['~standard']
  return { '~standard': { version: 1, vendor: 'copse', validate: (value) => ({ value }), jsonSchema } }
}

function success(output: unknown): CallToolResult {
  return {
    content: [{ type: 'text', text: JSON.stringify(output, null, 2) }],
    structuredContent: output,
  }
}
