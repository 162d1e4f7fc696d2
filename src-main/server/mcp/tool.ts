import type { Tool, ToolAnnotations } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { OperationName } from '../../../src-shared/contract/operations.ts'
import { parseInput } from '../../../src-shared/contract/parse-input.ts'
import type { McpScope } from './scope.ts'

/** A tool for agents. Its schemas are what they see; the API itself judges the values. */
export interface McpTool {
  readonly title: string
  readonly description: string
  readonly inputSchema: Tool['inputSchema']
  readonly outputSchema: Tool['inputSchema']
  readonly annotations: ToolAnnotations
  /** The operation that answers; where several are needed, the one that decides. */
  readonly operation: OperationName
  readonly run: (values: unknown, scope: McpScope) => Promise<unknown>
}

/** What a tool does to the board, as its annotations say it. */
const effects = {
  /** Changes nothing. */
  reads: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  /** Adds or moves; whatever was there is still there. Twice is two times. */
  adds: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  /** Adds or moves, and twice is the same as once. */
  marks: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  /** Puts new values in the place of old ones. */
  replaces: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
} as const satisfies Readonly<Record<string, ToolAnnotations>>

interface ToolParts<I extends z.ZodObject> {
  readonly title: string
  readonly description: string
  readonly effect: keyof typeof effects
  readonly input: I
  readonly output: z.ZodObject
  readonly run: (args: z.output<I>, scope: McpScope) => Promise<unknown>
}

/** Makes a tool; its schemas are written out once, for every request is served anew. */
export function defineTool<I extends z.ZodObject>(operation: OperationName, parts: ToolParts<I>): McpTool {
  const { title, description, effect, input, output, run } = parts
  return {
    title,
    description,
    inputSchema: jsonSchemaOf(input.strict(), 'input'),
    outputSchema: jsonSchemaOf(output, 'output'),
    annotations: { ...effects[effect], openWorldHint: false },
    operation,
    run: (values, scope) => run(parseInput(input, values), scope),
  }
}

/** As short as it can be said: whoever lists the tools reads all of it. */
function jsonSchemaOf(schema: z.ZodObject, io: 'input' | 'output'): Tool['inputSchema'] {
  const written = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => {
      // The format says it already, in a word instead of two hundred characters.
      if (jsonSchema.format === 'uuid' || jsonSchema.format === 'date-time') delete jsonSchema.pattern
    },
  })
  return written as Tool['inputSchema']
}
