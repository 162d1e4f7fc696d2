import { retryText } from '../agent/retry-text.ts'
import type { TranscriptEntry } from '../../../src-shared/contract/executions.ts'
import { clip, clipDeep } from '../agent/text.ts'
import { describeTool } from './describe-tool.ts'
import { blocksOf, isSynthetic } from './stream-events.ts'
import type { AssistantEvent, Block, StreamEvent, SystemEvent, UserEvent } from './stream-events.ts'
import { isToolUse } from './reduce-run-state.ts'
import type { RunState } from './reduce-run-state.ts'

/** Returns the transcript entries of one event. `before` and `after` are the states around it. */
export function toEntries(event: StreamEvent, before: RunState, after: RunState, at: string): TranscriptEntry[] {
  switch (event.type) {
    case 'system':
      return fromSystem(event, at)
    case 'assistant':
      return [...fromAssistant(event, after.cwd, at), ...usageSoFar(before, after, at)]
    case 'user':
      return fromUser(event, at)
    case 'result':
      return fromResult(before, after, at)
    case 'stream_event':
      return usageSoFar(before, after, at)
    case 'rate_limit_event':
      return []
  }
}

function fromSystem(event: SystemEvent, at: string): TranscriptEntry[] {
  if (event.subtype === 'api_retry') {
    return [{ type: 'error', at, text: retryText(event) }]
  }
  if (event.subtype !== 'init') return []
  return (event.mcp_servers ?? [])
    .filter((server) => server.status === 'failed')
    .map((server) => ({ type: 'error', at, text: `The MCP server ${server.name} could not be reached.` }))
}

function fromAssistant(event: AssistantEvent, cwd: string | null, at: string): TranscriptEntry[] {
  const entryType = isSynthetic(event) ? 'error' : 'message'
  return blocksOf(event).flatMap((block): TranscriptEntry[] => {
    if (block.type === 'text') return hasWords(block.text) ? [{ type: entryType, at, text: clip(block.text) }] : []
    if (block.type === 'thinking') {
      return hasWords(block.thinking) ? [{ type: 'thinking', at, text: clip(block.thinking) }] : []
    }
    if (!isToolUse(block.type)) return []
    const tool = block.name ?? block.type
    const input = block.input ?? null
    return [
      { type: 'tool_call', at, id: block.id ?? '', tool, input: clipDeep(input), ...describeTool(tool, input, cwd) },
    ]
  })
}

// Other texts in a user event are the prompt, or Claude Code's reminders to the model.
const fromUser = (event: UserEvent, at: string): TranscriptEntry[] =>
  blocksOf(event).flatMap((block): TranscriptEntry[] => {
    if (block.type !== 'tool_result') return []
    const ok = block.is_error !== true
    const line = touchedLine(event)
    const id = block.tool_use_id ?? ''
    return [{ type: 'tool_result', at, id, ok, text: resultText(block), ...(line !== null && { line }) }]
  })

/** Returns the first line of an edit with one hunk; with several, the first would stand for all. */
function touchedLine({ tool_use_result }: UserEvent): number | null {
  const [hunk, ...others] = tool_use_result?.structuredPatch ?? []
  const before = hunk?.lines.findIndex((text) => !text.startsWith(' ')) ?? -1
  return hunk && before >= 0 && others.length === 0 ? Math.max(1, hunk.newStart + before) : null
}

function fromResult(before: RunState, after: RunState, at: string): TranscriptEntry[] {
  const entries: TranscriptEntry[] = []
  const { result } = after
  // An API error was already written for the event before.
  if (result?.failed && result.text !== null && result.text !== before.api_error?.text) {
    entries.push({ type: 'error', at, text: clip(result.text) })
  }
  return [...entries, ...usageOfRest(before, after, at)]
}

/** Returns the usage of the model call that was not reported yet. */
function usageSoFar(before: RunState, { spent, model, calls }: RunState, at: string): TranscriptEntry[] {
  const more = (kind: keyof RunState['spent']) => spent[kind] - before.spent[kind]
  const [input_tokens, output_tokens] = [more('input_tokens'), more('output_tokens')]
  if (input_tokens + output_tokens === 0) return []
  const [cached_tokens, cache_write_tokens] = [more('cached_tokens'), more('cache_write_tokens')]
  return [
    {
      ...({ type: 'usage', at, input_tokens, output_tokens, cost_usd: null } as const),
      ...(cached_tokens > 0 && { cached_tokens }),
      ...(cache_write_tokens > 0 && { cache_write_tokens }),
      ...(calls > before.calls && { turns: calls - before.calls }),
      ...(model !== null && { model }),
    },
  ]
}

/** Returns the turn's cost, and its usage beyond that of its model calls. */
function usageOfRest({ usage: told, spent }: RunState, { usage }: RunState, at: string): TranscriptEntry[] {
  if (!usage) return []
  const rest = (kind: 'input_tokens' | 'output_tokens') =>
    Math.max(0, (usage[kind] ?? 0) - (told?.[kind] ?? 0) - spent[kind])
  const cost_usd = usage.cost_usd === null ? null : Math.max(0, usage.cost_usd - (told?.cost_usd ?? 0))
  return [{ type: 'usage', at, input_tokens: rest('input_tokens'), output_tokens: rest('output_tokens'), cost_usd }]
}

function resultText(block: Block): string {
  const { content } = block
  const text = typeof content === 'string' ? content : Array.isArray(content) ? content.map(partText).join('\n') : ''
  return clip(text.replace(/^<tool_use_error>([\s\S]*)<\/tool_use_error>$/, '$1'))
}

function partText(part: unknown): string {
  if (typeof part !== 'object' || part === null) return ''
  if ('text' in part && typeof part.text === 'string') return part.text
  if ('tool_name' in part && typeof part.tool_name === 'string') return part.tool_name
  return 'type' in part && typeof part.type === 'string' ? `[${part.type}]` : ''
}

const hasWords = (text: string | undefined): text is string => text !== undefined && text.trim() !== ''
