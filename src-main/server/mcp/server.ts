import { acceptedContent, isInputRequiredResult, Server } from '@modelcontextprotocol/server'
import type { CallToolResult, InputRequiredResult, Tool } from '@modelcontextprotocol/server'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { Logger } from '../../platform/logging/log.ts'
import { toApiError } from '../http-errors.ts'
import { listResources, readResource, resourceTemplates } from './resources.ts'
import type { McpScope } from './scope.ts'
import type { McpDialog, McpTool } from './tool.ts'
import { mcpTools } from './tools.ts'

const instructions =
  'Copse keeps a board of tasks; agents work on them in git worktrees of their own. Inside an execution, project, ' +
  'task and execution default to yours: leave them out. When your work is committed, call svc_submit_for_review once ' +
  'and end; as a reviewer, svc_submit_verdict. An error names a code and says what to do next.'

const toolsByName: ReadonlyMap<string, McpTool> = new Map(Object.entries(mcpTools))

/** The tools as clients see them. */
const shownTools: readonly Tool[] = [...toolsByName].map(([name, { run: _run, operation: _operation, ...shown }]) => ({
  name,
  ...shown,
}))

export interface McpServerOptions {
  readonly version: string
  readonly log: Logger
  /** Whether the client can receive changes, as those of the newer protocol can. */
  readonly tells: boolean
}

/** Creates the MCP server of one caller. */
export function createMcpServer(scope: McpScope, { version, log, tells }: McpServerOptions): Server {
  const server = new Server(
    { name: 'copse', title: 'Copse', version },
    { instructions, capabilities: { tools: {}, resources: tells ? { listChanged: true, subscribe: true } : {} } },
  )
  server.setRequestHandler('tools/list', () => ({ tools: [...shownTools] }))
  server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => {
    const dialog: McpDialog = {
      // The older protocol has no forms.
      canAsk: tells && server.getClientCapabilities()?.elicitation !== undefined,
      answered: (form) => acceptedContent(mcpReq.inputResponses, form) ?? null,
    }
    return callTool(params, { scope, dialog, log })
  })
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [...resourceTemplates] }))
  server.setRequestHandler('resources/list', () => listResources(scope, log))
  server.setRequestHandler('resources/read', ({ params }) => readResource(scope, params.uri, log))
  return server
}

async function callTool(
  { name, arguments: values }: { readonly name: string; readonly arguments?: unknown },
  { scope, dialog, log }: { readonly scope: McpScope; readonly dialog: McpDialog; readonly log: Logger },
): Promise<CallToolResult | InputRequiredResult> {
  try {
    const tool = toolsByName.get(name) ?? noSuchTool(name)
    scope.admit(tool.operation)
    const output = await tool.run(values, scope, dialog)
    if (isInputRequiredResult(output)) return output
    return {
      content: [{ type: 'text', text: JSON.stringify(output) }],
      structuredContent: output as Record<string, unknown>,
    }
  } catch (error) {
    if (scope.gone.aborted) return failed('Cancelled.')
    return failed(JSON.stringify(toApiError(error, log).toBody()))
  }
}

const failed = (text: string): CallToolResult => ({ isError: true, content: [{ type: 'text', text }] })

/** An error of a tool is read by the agent, which corrects the name; a protocol error would end its turn. */
function noSuchTool(name: string): never {
  throw new ApiError({
    code: 'not_found',
    message: `No tool ${JSON.stringify(name)}. Available: ${[...toolsByName.keys()].join(', ')}.`,
    details: { resource: 'tool' },
  })
}
