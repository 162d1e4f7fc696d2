import type { ServerResponse } from 'node:http'
import type { ModelTurn } from '../conversation.ts'
import { newId, sendEvents, turnUsage } from './wire.ts'

/** Sends a turn as Anthropic's Messages: server-sent events, or one JSON body. */
export function answerMessages(
  response: ServerResponse,
  turn: ModelTurn,
  { model, stream }: { readonly model: string; readonly stream: boolean },
): void {
  const content = contentOf(turn)
  const stopReason = turn.call ? 'tool_use' : 'end_turn'
  const message = { id: newId('msg'), type: 'message', role: 'assistant', model, stop_sequence: null }
  const usage = { ...turnUsage, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }
  if (!stream) {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ...message, content, stop_reason: stopReason, usage }))
    return
  }
  const start = { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } }
  const end = { delta: { stop_reason: stopReason, stop_sequence: null }, usage: { output_tokens: usage.output_tokens } }
  sendEvents(response, [
    { type: 'message_start', message: start },
    ...content.flatMap((block, index) => blockEvents(index, block)),
    { type: 'message_delta', ...end },
    { type: 'message_stop' },
  ])
}

type Block =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: unknown }

function contentOf(turn: ModelTurn): Block[] {
  const words: Block[] = turn.say === '' ? [] : [{ type: 'text', text: turn.say }]
  return turn.call
    ? [...words, { type: 'tool_use', id: newId('toolu'), name: turn.call.tool.name, input: turn.call.input }]
    : words
}

function blockEvents(index: number, block: Block): { readonly type: string }[] {
  const [empty, delta] =
    block.type === 'text'
      ? [
          { ...block, text: '' },
          { type: 'text_delta', text: block.text },
        ]
      : [
          { ...block, input: {} },
          { type: 'input_json_delta', partial_json: JSON.stringify(block.input) },
        ]
  const events = [
    { type: 'content_block_start', index, content_block: empty },
    { type: 'content_block_delta', index, delta },
    { type: 'content_block_stop', index },
  ]
  return events
}
