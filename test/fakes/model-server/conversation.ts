/** What a tool takes, as far as a script needs to know. */
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
  /** Set by wires that keep the tools of an MCP server together. */
  readonly namespace?: string
  readonly schema: ToolSchema
  /** `text`: takes one text that is no JSON. `search`: finds tools that are offered by their names only. */
  readonly kind: 'function' | 'text' | 'search'
}

/** A request to the model, whatever the wire that it came over. */
export interface Conversation {
  /** What people (and the agent on their behalf) said, with the place in the conversation. */
  readonly prompts: readonly { readonly text: string; readonly at: number }[]
  /** The tools that the model has called so far. */
  readonly calls: readonly { readonly name: string; readonly at: number }[]
  readonly tools: readonly OfferedTool[]
  /** Every text of the request: names of deferred tools are mentioned somewhere in it. */
  readonly said: string
}

/** What the model answers: words, a tool call, or both. */
export interface ModelTurn {
  readonly say: string
  readonly call: ModelToolCall | null
}

export interface ModelToolCall {
  readonly tool: OfferedTool
  /** A text for a tool that takes one. */
  readonly input: Readonly<Record<string, unknown>> | string
}

/** Every text in a value, however deep. */
export function allTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(allTexts) : []
}
