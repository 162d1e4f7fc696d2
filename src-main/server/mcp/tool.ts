import type { Tool, ToolAnnotations } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { OperationName } from '../../../src-shared/contract/operations.ts'
import { parseInput } from '../../../src-shared/contract/parse-input.ts'
import type { McpScope } from './scope.ts'

/** A tool for agents. Its schemas are documentation; the API validates the values. */
export interface McpTool {
  readonly title: string
  readonly description: string
  readonly inputSchema: Tool['inputSchema']
  /** Only where useful: every client reads the whole list. */
  readonly outputSchema?: Tool['inputSchema']
  readonly annotations: ToolAnnotations
  /** The operation behind the tool; of several, the one that decides. */
  readonly operation: OperationName
  readonly run: (values: unknown, scope: McpScope, dialog: McpDialog) => Promise<unknown>
}

/** What the client can show its user. */
export interface McpDialog {
  /** The client can show a form and call again with the answer. */
  readonly canAsk: boolean
  /** Returns the user's answer to the form of this name, or null. */
  answered(form: string): Readonly<Record<string, unknown>> | null
}

/** Tool annotations by effect on the board. */
const effects = {
  /** Changes nothing. */
  reads: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  /** Adds or moves, overwriting nothing; calling twice adds twice. */
  adds: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  /** Adds or moves; calling twice has the effect of one call. */
  marks: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  /** Replaces values. */
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

/** Defines a tool; its schemas are converted once, because every request creates a server. */
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

/** Returns a short JSON schema, because every client reads the whole list. */
function jsonSchemaOf(schema: z.ZodObject, io: 'input' | 'output'): Tool['inputSchema'] {
  const written = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => {
      // `format` says the same in one word instead of two hundred characters.
      if (jsonSchema.format === 'uuid' || jsonSchema.format === 'date-time') delete jsonSchema.pattern
      // Large limits are left to the refusal.
      if ((jsonSchema.maxLength ?? 0) > 100) delete jsonSchema.maxLength
      if ((jsonSchema.maximum ?? 0) >= Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      if ((jsonSchema.minimum ?? 0) <= Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
    },
  })
  delete written.$schema
  return written as Tool['inputSchema']
}
