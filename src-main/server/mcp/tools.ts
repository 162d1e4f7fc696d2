import { readingTools } from './reading-tools.ts'
import type { McpTool } from './tool.ts'
import { writingTools } from './writing-tools.ts'

/** Tool name → what it does: a small table over the operations of the contract. */
export const mcpTools = { ...readingTools, ...writingTools } as const satisfies Record<string, McpTool>
