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
  /** Only where it earns its place: every client reads all of the list. */
  readonly outputSchema?: Tool['inputSchema']
  readonly annotations: ToolAnnotations
  /** The operation that answers; where several are needed, the one that decides. */
  readonly operation: OperationName
  readonly run: (values: unknown, scope: McpScope, dialog: McpDialog) => Promise<unknown>
}

/** What the client can do for the person before it. */
export interface McpDialog {
  /** It can show its person a form, and call again with what they answered. */
  readonly canAsk: boolean
  /** What its person answered to the form of this name; null where nothing. */
  answered(form: string): Readonly<Record<string, unknown>> | null
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
  readonly output?: z.ZodObject
  readonly run: (args: z.output<I>, scope: McpScope, dialog: McpDialog) => Promise<unknown>
}

/** Makes a tool; its schemas are written out once, for every request is served anew. */
export function defineTool<I extends z.ZodObject>(operation: OperationName, parts: ToolParts<I>): McpTool {
  const { title, description, effect, input, output, run } = parts
  return {
    title,
    description,
    inputSchema: jsonSchemaOf(input.strict(), 'input'),
    ...(output && { outputSchema: jsonSchemaOf(output, 'output') }),
    annotations: { ...effects[effect], openWorldHint: false },
    operation,
    run: (values, scope, dialog) => run(parseInput(input, values), scope, dialog),
  }
}

/** As short as it can be said: whoever lists the tools reads all of it. */
function jsonSchemaOf(schema: z.ZodObject, io: 'input' | 'output'): Tool['inputSchema'] {
  const written = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => {
      // The format says it already, in a word instead of two hundred characters.
      if (jsonSchema.format === 'uuid' || jsonSchema.format === 'date-time') delete jsonSchema.pattern
      // Bounds that nobody comes near are said by the refusal.
      if ((jsonSchema.maxLength ?? 0) > 100) delete jsonSchema.maxLength
      if ((jsonSchema.maximum ?? 0) >= Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      if ((jsonSchema.minimum ?? 0) <= Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
    },
  })
  delete written.$schema
  return written as Tool['inputSchema']
}
