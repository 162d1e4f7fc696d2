import type { TranscriptEntry } from '../../../src-shared/contract/executions.ts'
import { isRecord, isText, oneLine, relativeToCwd } from '../agent/text.ts'

type ToolCall = Extract<TranscriptEntry, { type: 'tool_call' }>

/** The effect of a tool call, for people. */
export type ToolDescription = Pick<ToolCall, 'action' | 'target' | 'diff'>

const actions: Readonly<Record<string, ToolCall['action']>> = {
  Read: 'read',
  NotebookRead: 'read',
  ReadMcpResource: 'read',
  Edit: 'edit',
  MultiEdit: 'edit',
  NotebookEdit: 'edit',
  Write: 'write',
  Bash: 'run',
  PowerShell: 'run',
  BashOutput: 'run',
  KillShell: 'run',
  KillBash: 'run',
  Monitor: 'run',
  Grep: 'search',
  Glob: 'search',
  LS: 'search',
  WebFetch: 'fetch',
  WebSearch: 'fetch',
}

const pathKeys = ['file_path', 'notebook_path', 'path']
const targetKeys = ['command', 'pattern', 'query', 'url', 'description', 'subject', 'name', 'prompt', 'task_id']
/** Longer diffs are unreadable in a transcript; the workspace's diff shows them. */
const maxDiffText = 512 * 1024

/** Describes a tool call, with paths below `cwd` relative to it. */
export function describeTool(tool: string, input: unknown, cwd: string | null): ToolDescription {
  const fields = isRecord(input) ? input : {}
  return { action: actionOf(tool), target: targetOf(tool, fields, cwd), diff: diffOf(tool, fields, cwd) }
}

const actionOf = (tool: string): ToolCall['action'] =>
  tool.startsWith('mcp__') ? 'mcp' : Object.hasOwn(actions, tool) ? (actions[tool] ?? 'other') : 'other'

function targetOf(tool: string, fields: Readonly<Record<string, unknown>>, cwd: string | null): string | null {
  if (tool.startsWith('mcp__')) return oneLine(Object.values(fields).find(isText) ?? '') || null
  // The first key of a search names its pattern, the second its folder.
  const keys = actionOf(tool) === 'search' ? [...targetKeys, ...pathKeys] : [...pathKeys, ...targetKeys]
  const key = keys.find((name) => isText(fields[name]))
  const value = key === undefined ? undefined : fields[key]
  if (key === undefined || !isText(value)) return null
  return oneLine(pathKeys.includes(key) ? relativeToCwd(value, cwd) : value)
}

function diffOf(tool: string, fields: Readonly<Record<string, unknown>>, cwd: string | null): ToolCall['diff'] {
  const path = fields['file_path'] ?? fields['notebook_path']
  const change = changeOf(tool, fields)
  if (!isText(path) || change === null) return null
  if ((change.old_text?.length ?? 0) + change.new_text.length > maxDiffText) return null
  return { path: relativeToCwd(path, cwd), ...change }
}

type Change = Pick<NonNullable<ToolCall['diff']>, 'old_text' | 'new_text'>

function changeOf(tool: string, fields: Readonly<Record<string, unknown>>): Change | null {
  if (tool === 'Write')
    return typeof fields['content'] === 'string' ? { old_text: null, new_text: fields['content'] } : null
  if (tool === 'NotebookEdit') {
    return typeof fields['new_source'] === 'string' ? { old_text: null, new_text: fields['new_source'] } : null
  }
  if (tool === 'Edit') return replacementOf(fields)
  if (tool !== 'MultiEdit' || !Array.isArray(fields['edits'])) return null
  const edits = fields['edits'].filter(isRecord).map(replacementOf)
  const whole = edits.filter((edit) => edit !== null)
  if (whole.length === 0 || whole.length < edits.length) return null
  return {
    old_text: whole.map((edit) => edit.old_text ?? '').join('\n'),
    new_text: whole.map((edit) => edit.new_text).join('\n'),
  }
}

function replacementOf(fields: Readonly<Record<string, unknown>>): Change | null {
  const { old_string: before, new_string: after } = fields
  return typeof before === 'string' && typeof after === 'string' ? { old_text: before, new_text: after } : null
}
