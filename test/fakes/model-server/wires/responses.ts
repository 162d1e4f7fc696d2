import { allTexts } from '../conversation.ts'
import type { Conversation, OfferedTool, ToolSchema } from '../conversation.ts'
import { answerResponses } from './responses-answer.ts'
import type { Wire } from './wire.ts'

interface Tool {
  readonly type: string
  readonly name?: string
  readonly parameters?: ToolSchema
  readonly tools?: readonly Tool[]
}

interface Item {
  readonly type?: string
  readonly role?: string
  readonly name?: string
  readonly content?: unknown
  /** Tools that a search has found. */
  readonly tools?: readonly Tool[]
}

interface ResponsesRequest {
  readonly instructions?: unknown
  readonly input?: string | readonly Item[]
  readonly tools?: readonly Tool[]
}

/** OpenAI's Responses, as Codex speaks it. */
export const responses: Wire = {
  match: (path) => (path.endsWith('/responses') ? { model: null, stream: null } : null),
  read: readResponses,
  answer: answerResponses,
}

function readResponses(request: ResponsesRequest): Conversation {
  const items: readonly Item[] =
    typeof request.input === 'string' ? [{ role: 'user', content: request.input }] : (request.input ?? [])
  const prompts: { text: string; at: number }[] = []
  const calls: { name: string; at: number }[] = []
  for (const [at, item] of items.entries()) {
    if (item.type?.endsWith('_call') === true) calls.push({ name: item.name ?? item.type, at })
    else if (item.role === 'user') prompts.push({ text: allTexts(item.content).join('\n'), at })
  }
  const found = items.flatMap((item) => (item.type === 'tool_search_output' ? (item.tools ?? []) : []))
  const tools = [...(request.tools ?? []), ...found].flatMap((tool) => offered(tool))
  const said = allTexts([request.instructions, request.input, request.tools]).join('\n')
  return { prompts, calls, tools, said }
}

function offered({ type, name = type, parameters: schema = {}, tools = [] }: Tool, namespace?: string): OfferedTool[] {
  if (type === 'namespace') return tools.flatMap((tool) => offered(tool, name))
  if (type === 'custom') return [{ name, schema, kind: 'text' }]
  if (type === 'tool_search') return [{ name, schema, kind: 'search' }]
  return type === 'function' ? [{ name, schema, kind: 'function', ...(namespace !== undefined && { namespace }) }] : []
}
