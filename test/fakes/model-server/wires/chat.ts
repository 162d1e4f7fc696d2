import type { ServerResponse } from 'node:http'
import { allTexts } from '../conversation.ts'
import type { Conversation, ModelTurn, ToolSchema } from '../conversation.ts'
import { newId, sendEvents, sendJson, turnUsage } from './wire.ts'
import type { Wire } from './wire.ts'

interface ChatRequest {
  readonly messages?: readonly {
    readonly role: string
    readonly content?: unknown
    readonly tool_calls?: readonly { readonly function?: { readonly name?: string } }[]
  }[]
  readonly tools?: readonly { readonly function?: { readonly name: string; readonly parameters?: ToolSchema } }[]
}

/** OpenAI's Chat Completions, as opencode, Copilot and Qwen Code speak it. */
export const chat: Wire = {
  match: (path) => (path.endsWith('/chat/completions') ? { model: null, stream: null } : null),
  read: readChat,
  answer: answerChat,
}

function readChat(request: ChatRequest): Conversation {
  const prompts: { text: string; at: number }[] = []
  const calls: { name: string; at: number }[] = []
  for (const [at, { role, content, tool_calls = [] }] of (request.messages ?? []).entries()) {
    if (role === 'assistant') for (const call of tool_calls) calls.push({ name: call.function?.name ?? '', at })
    const text = role === 'user' ? textOf(content) : ''
    if (text !== '') prompts.push({ text, at })
  }
  const tools = (request.tools ?? []).flatMap(({ function: one }) =>
    one ? [{ name: one.name, schema: one.parameters ?? {}, kind: kindOf(one.name) }] : [],
  )
  return { prompts, calls, tools, said: allTexts([request.messages, request.tools]).join('\n') }
}

const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : Array.isArray(content)
      ? content.flatMap((part) => partText(part)).join('\n')
      : ''

const partText = (part: { readonly text?: string }): string[] => (part.text === undefined ? [] : [part.text])

const kindOf = (name: string): 'search' | 'function' => (name === 'tool_search' ? 'search' : 'function')

function answerChat(
  response: ServerResponse,
  { say, call }: ModelTurn,
  { model, stream }: { readonly model: string; readonly stream: boolean },
): void {
  const base = { id: newId('chatcmpl'), created: Math.floor(Date.now() / 1000), model }
  const tool_calls = call
    ? [
        {
          id: newId('call'),
          type: 'function',
          function: { name: call.tool.name, arguments: JSON.stringify(call.input) },
        },
      ]
    : []
  const finish_reason = call ? 'tool_calls' : 'stop'
  const { input_tokens: prompt_tokens, output_tokens: completion_tokens } = turnUsage
  const usage = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens }
  const content = say === '' ? null : say
  if (!stream) {
    const message = { role: 'assistant', content, ...(call && { tool_calls }) }
    const choices = [{ index: 0, finish_reason, message }]
    return void sendJson(response, 200, { ...base, object: 'chat.completion', choices, usage })
  }
  const chunk = (delta: object, reason: string | null = null, more = {}): object => ({
    ...base,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: reason }],
    ...more,
  })
  sendEvents(response, [
    chunk({ role: 'assistant', content }),
    ...tool_calls.map((one, index) => chunk({ tool_calls: [{ index, ...one }] })),
    chunk({}, finish_reason, { usage }),
    '[DONE]',
  ])
}
