import { readingTools } from './mcp-reading-tools.ts'
import type { McpTool } from './mcp-tool.ts'
import { writingTools } from './mcp-writing-tools.ts'

/** Tool name → what it does: a small table over the operations of the contract. */
export const mcpTools = { ...readingTools, ...writingTools } as const satisfies Record<string, McpTool>
