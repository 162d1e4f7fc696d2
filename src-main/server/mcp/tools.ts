import { readingTools } from './reading-tools.ts'
import type { McpTool } from './tool.ts'
import { writingTools } from './writing-tools.ts'

/** The MCP tools by name, a small table over the contract's operations. */
export const mcpTools = { ...readingTools, ...writingTools } as const satisfies Record<string, McpTool>
