import type { ServerResponse } from 'node:http'
import type { ModelToolCall, ModelTurn } from '../conversation.ts'
import { newId, sendEvents, sendJson, turnUsage } from './wire.ts'

/** Sends a turn as OpenAI's Responses: server-sent events, or one JSON body. */
export function answerResponses(
  response: ServerResponse,
  { say, call }: ModelTurn,
  { model, stream }: { readonly model: string; readonly stream: boolean },
): void {
  const output = [...(say === '' ? [] : [messageItem(say)]), ...(call ? [callItem(call)] : [])]
  const { input_tokens, output_tokens } = turnUsage
  const usage = {
    input_tokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input_tokens + output_tokens,
  }
  const created_at = Math.floor(Date.now() / 1000)
  const base = { id: newId('resp'), object: 'response', created_at, model, parallel_tool_calls: false, tools: [] }
  const whole = { ...base, status: 'completed', output, usage }
  if (!stream) return void sendJson(response, 200, whole)
  const events = [
    { type: 'response.created', response: { ...base, status: 'in_progress', output: [] } },
    ...output.flatMap((item, output_index) => [
      { type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress' } },
      { type: 'response.output_item.done', output_index, item },
    ]),
    { type: 'response.completed', response: whole },
  ]
  sendEvents(
    response,
    events.map((event, sequence_number) => ({ ...event, sequence_number })),
  )
}

function messageItem(text: string): object {
  const content = [{ type: 'output_text', text, annotations: [] }]
  return { type: 'message', id: newId('msg'), role: 'assistant', status: 'completed', content }
}

function callItem({ tool, input }: ModelToolCall): object {
  const common = { call_id: newId('call'), status: 'completed' }
  if (tool.kind === 'search')
    return { type: 'tool_search_call', id: newId('tsc'), ...common, execution: 'client', arguments: input }
  if (tool.kind === 'text') return { type: 'custom_tool_call', id: newId('ctc'), ...common, name: tool.name, input }
  const { name, namespace } = tool
  const args = JSON.stringify(input)
  return { type: 'function_call', id: newId('fc'), ...common, name, ...(namespace && { namespace }), arguments: args }
}
