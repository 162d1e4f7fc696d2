import type { TranscriptEntry } from '../../../src-shared/contract/executions.ts'
import { clip, clipDeep, isRecord, isText, oneLine, relativeToCwd } from '../agent/text.ts'
import type { CodexItem } from './stream-events.ts'

type ToolCall = Extract<TranscriptEntry, { type: 'tool_call' }>

/** Describes an item as a tool call; returns null if it is none. Codex reports which files it changes, not how. */
export function describeItem(item: CodexItem, cwd: string): Omit<ToolCall, 'type' | 'at' | 'id'> | null {
  switch (item.type) {
    case 'command_execution': {
      const command = withoutShell(item.command ?? '')
      return { tool: 'shell', action: 'run', target: oneLine(command), input: { command: clip(command) }, diff: null }
    }
    case 'file_change': {
      const { changes = [] } = item
      const [first, ...others] = changes.map((change) => relativeToCwd(change.path, cwd))
      const target = others.length > 0 ? `${first} and ${others.length} more` : (first ?? null)
      const action = changes.every((change) => change.kind === 'add') ? 'write' : 'edit'
      return { tool: 'apply_patch', action, target, input: clipDeep({ changes }), diff: null }
    }
    case 'mcp_tool_call': {
      const input = item.arguments ?? null
      const target = isRecord(input) ? oneLine(Object.values(input).find(isText) ?? '') || null : null
      return { tool: `${item.server}/${item.tool}`, action: 'mcp', target, input: clipDeep(input), diff: null }
    }
    case 'web_search': {
      const query = item.query ?? ''
      return { tool: item.type, action: 'fetch', target: oneLine(query) || null, input: { query }, diff: null }
    }
    case 'collab_tool_call':
      return { tool: item.tool ?? item.type, action: 'other', target: null, input: null, diff: null }
    default:
      return null
  }
}

/** Returns the result of a finished item. */
export function resultOfItem(item: CodexItem): { readonly ok: boolean; readonly text: string } {
  const ok = item.status !== 'failed' && item.status !== 'declined'
  if (item.type !== 'mcp_tool_call') return { ok, text: clip(item.aggregated_output ?? '') }
  const content = isRecord(item.result) && Array.isArray(item.result['content']) ? item.result['content'] : []
  const parts = content.flatMap((part) => (isRecord(part) && typeof part['text'] === 'string' ? [part['text']] : []))
  const error = isRecord(item.error) && typeof item.error['message'] === 'string' ? [item.error['message']] : []
  return { ok: ok && error.length === 0, text: clip([...parts, ...error].join('\n')) }
}

/** Removes the shell that Codex starts every command with. */
const withoutShell = (command: string): string =>
  /^\S*\/(?:ba|z|da)?sh -l?c (['"])([\s\S]*)\1$/.exec(command)?.[2]?.replaceAll(`'\\''`, "'") ?? command
