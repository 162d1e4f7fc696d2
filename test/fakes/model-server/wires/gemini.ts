import type { ServerResponse } from 'node:http'
import { allTexts } from '../conversation.ts'
import type { Conversation, ModelTurn, ToolSchema } from '../conversation.ts'
import { newId, sendEvents, sendJson, turnUsage } from './wire.ts'
import type { Wire } from './wire.ts'

interface Part {
  readonly text?: string
  readonly functionCall?: { readonly name: string }
}

interface GeminiRequest {
  readonly contents?: readonly { readonly role?: string; readonly parts?: readonly Part[] }[]
  readonly systemInstruction?: unknown
  readonly tools?: readonly {
    readonly functionDeclarations?: readonly {
      readonly name: string
      readonly parametersJsonSchema?: ToolSchema
      readonly parameters?: ToolSchema
    }[]
  }[]
}

/** Google's generateContent, as Gemini CLI speaks it. */
export const gemini: Wire = {
  match: (path) => {
    const found = /\/models\/([^/:]+):(stream)?generateContent$/i.exec(path)
    return found ? { model: found[1] ?? null, stream: found[2] !== undefined } : null
  },
  read: readGemini,
  answer: answerGemini,
}

function readGemini(request: GeminiRequest): Conversation {
  const prompts: { text: string; at: number }[] = []
  const calls: { name: string; at: number }[] = []
  for (const [at, { role, parts = [] }] of (request.contents ?? []).entries()) {
    for (const part of parts) if (part.functionCall) calls.push({ name: part.functionCall.name, at })
    const text = parts.flatMap((part) => (part.text === undefined ? [] : [part.text])).join('\n')
    if (role === 'user' && text !== '') prompts.push({ text, at })
  }
  const tools = (request.tools ?? []).flatMap(({ functionDeclarations = [] }) =>
    functionDeclarations.map((one) => ({
      name: one.name,
      schema: one.parametersJsonSchema ?? one.parameters ?? {},
      kind: 'function' as const,
    })),
  )
  const said = allTexts([request.systemInstruction, request.contents, request.tools]).join('\n')
  return { prompts, calls, tools, said }
}

function answerGemini(
  response: ServerResponse,
  { say, call }: ModelTurn,
  { model, stream }: { readonly model: string; readonly stream: boolean },
): void {
  const parts = [
    ...(say === '' ? [] : [{ text: say }]),
    ...(call ? [{ functionCall: { id: newId('call'), name: call.tool.name, args: call.input } }] : []),
  ]
  const { input_tokens: promptTokenCount, output_tokens: candidatesTokenCount } = turnUsage
  const body = {
    candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
    modelVersion: model,
    responseId: newId('resp'),
    usageMetadata: { promptTokenCount, candidatesTokenCount, totalTokenCount: promptTokenCount + candidatesTokenCount },
  }
  if (stream) sendEvents(response, [body])
  else sendJson(response, 200, body)
}
