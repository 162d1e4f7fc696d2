/** The schema of a tool, as far as a script needs it. */
export interface ToolSchema {
  readonly properties?: Readonly<Record<string, ToolProperty>>
  readonly required?: readonly string[]
}

interface ToolProperty {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly enum?: readonly unknown[]
}

export interface OfferedTool {
  readonly name: string
  /** Set by wires that group the tools of an MCP server. */
  readonly namespace?: string
  readonly schema: ToolSchema
  /** `text`: takes one text that is no JSON. `search`: finds tools that are offered by name only. */
  readonly kind: 'function' | 'text' | 'search'
}

/** A request to the model over any wire. */
export interface Conversation {
  /** The messages of people (and the agent on their behalf), with their place in the conversation. */
  readonly prompts: readonly { readonly text: string; readonly at: number }[]
  /** The tools that the model has called so far. */
  readonly calls: readonly { readonly name: string; readonly at: number }[]
  readonly tools: readonly OfferedTool[]
  /** Every text of the request, which mentions the names of deferred tools somewhere. */
  readonly said: string
}

/** The model's answer: text, a tool call, or both. */
export interface ModelTurn {
  readonly say: string
  readonly call: ModelToolCall | null
}

export interface ModelToolCall {
  readonly tool: OfferedTool
  /** A text for a tool that takes one. */
  readonly input: Readonly<Record<string, unknown>> | string
}

/** Returns every text in a value, at any depth. */
export function allTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(allTexts) : []
}
