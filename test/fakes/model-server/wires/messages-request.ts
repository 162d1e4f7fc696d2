import { allTexts } from '../conversation.ts'
import type { Conversation, ToolSchema } from '../conversation.ts'

/** The part of a Messages request that is read. It comes from an agent under test, so its shape is trusted. */
export interface MessagesRequest {
  readonly model?: string
  readonly stream?: boolean
  readonly system?: unknown
  readonly messages?: readonly { readonly role: string; readonly content: string | readonly Part[] }[]
  readonly tools?: readonly { readonly name: string; readonly input_schema?: ToolSchema }[]
}

interface Part {
  readonly type: string
  readonly text?: string
  readonly name?: string
  readonly input?: unknown
  readonly content?: unknown
}

/** Converts a Messages request to what a script needs. */
export function readMessages(request: MessagesRequest): Conversation {
  const prompts: { text: string; at: number }[] = []
  const calls: { name: string; at: number }[] = []
  for (const [at, message] of (request.messages ?? []).entries()) {
    const parts: readonly Part[] =
      typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content
    if (message.role === 'assistant') {
      for (const part of parts) if (part.type === 'tool_use') calls.push({ name: part.name ?? '', at })
      continue
    }
    const text = parts.flatMap(promptText).join('\n')
    if (text !== '') prompts.push({ text, at })
  }
  const tools = (request.tools ?? []).flatMap((tool) =>
    tool.input_schema
      ? [
          {
            name: tool.name,
            schema: tool.input_schema,
            kind: isSearch(tool.name) ? ('search' as const) : ('function' as const),
          },
        ]
      : [],
  )
  return { prompts, calls, tools, said: allTexts([request.system, request.messages, request.tools]).join('\n') }
}

const isSearch = (name: string): boolean => name === 'ToolSearch'

/** Claude Code puts a person's message during a turn into the next tool result, under this heading. */
const midTurn = 'The user sent a new message while you were working:'

function promptText(part: Part): string[] {
  if (part.type === 'text') return [part.text ?? '']
  return part.type === 'tool_result' ? allTexts(part.content).join('\n').split(midTurn).slice(1) : []
}
