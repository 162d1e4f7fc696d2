import { McpServer } from '@modelcontextprotocol/server'
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Logger } from '../base/log.ts'
import { toApiError } from './http-errors.ts'
import { addMcpResources } from './mcp-resources.ts'
import type { McpScope } from './mcp-scope.ts'
import type { McpTool } from './mcp-tool.ts'
import { mcpTools } from './mcp-tools.ts'

const instructions =
  'Copse keeps a board of tasks; agents work on them in git worktrees of their own. Inside an execution, project, ' +
  'task and execution default to yours: leave them out. When your work is committed, call svc_submit_for_review once ' +
  'and end; as a reviewer, svc_submit_verdict. An error names a code and says what to do next.'

export interface McpServerOptions {
  readonly version: string
  readonly log: Logger
  /** Whether the client can be told of changes, as those of the newer protocol can. */
  readonly tells: boolean
}

/** The tools and resources of one caller. */
export function createMcpServer(scope: McpScope, { version, log, tells }: McpServerOptions): McpServer {
  const resources = { listChanged: tells, ...(tells && { subscribe: true }) }
  const capabilities = { tools: { listChanged: false }, resources }
  const server = new McpServer({ name: 'copse', title: 'Copse', version }, { instructions, capabilities })
  for (const [name, { run, operation: _operation, ...shown }] of Object.entries<McpTool>(mcpTools)) {
    server.registerTool(name, shown, async (values: unknown): Promise<CallToolResult> => {
      try {
        return success(await run(values, scope))
      } catch (error) {
        const body = toApiError(error, log).toBody()
        return { isError: true, content: [{ type: 'text', text: JSON.stringify(body) }] }
      }
    })
  }
  addMcpResources(server, scope, log)
  return server
}

function success(output: unknown): CallToolResult {
  return {
    content: [{ type: 'text', text: JSON.stringify(output) }],
    structuredContent: output as Record<string, unknown>,
  }
}
