import type { TranscriptEntry } from '../../../src-shared/contract/executions.ts'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import { mcpServerName } from '../agent/mcp-server.ts'
import type { PermissionRequest } from '../agent/permissions.ts'
import { pathsIn } from '../agent/places.ts'
import { clip, clipDeep, isRecord, isText, oneLine, relativeToCwd } from '../agent/text.ts'
import type { Call } from './updates.ts'

type ToolCall = Extract<TranscriptEntry, { type: 'tool_call' }>

const actions: Readonly<Record<string, ToolCall['action']>> = {
  read: 'read',
  edit: 'edit',
  delete: 'edit',
  move: 'edit',
  search: 'search',
  execute: 'run',
  fetch: 'fetch',
}
/** Longer diffs are unreadable in a transcript; the workspace's diff shows them. */
const maxDiffText = 512 * 1024
/** Our MCP server's tools, as agents spell them: `mcp__svc__svc_note`, `svc-svc_note`, `svc_note (svc MCP Server)`. */
const ourTool = /^(?:mcp_+)?svc[-_]/

/** Describes a tool call for people. `title` is the call's first one: later ones describe the effect, not the tool. */
export function describeCall(call: Call, title: string, cwd: string): Omit<ToolCall, 'type' | 'at' | 'id'> {
  const tool = toolOf(call, title)
  const input = inputOf(call)
  const diff = diffOf(call, input, cwd)
  const action = actionOf(call, tool, title, diff)
  return {
    tool,
    action,
    target: targetOf(call, input, action, cwd),
    input: clipDeep(Object.keys(input).length > 0 ? input : null),
    diff,
  }
}

/** A call that needs permission, with all paths that it names. */
export function describePermissionRequest(call: Call, title: string, cwd: string): PermissionRequest {
  const about = describeCall(call, title, cwd)
  const parts = (call.content ?? []).flatMap((part) => (part.path === undefined ? [] : [part.path]))
  const paths = [...(call.locations ?? []).map(({ path }) => path), ...parts, ...pathsIn(inputOf(call))]
  // Some agents name the server in the title, others in the tool's name.
  const server = /\((\S+) MCP Server\)$/.exec(title)?.[1]
  const ours = about.action === 'mcp' && (server === undefined ? ourTool.test(about.tool) : server === mcpServerName)
  const input = about.input === null ? shownOf(call, about.action) : inputOf(call)
  return { ...about, input, ours, paths: [...new Set(paths)] }
}

/** Returns what a person sees if the agent sends no input: all the call's content, because that is what they allow. */
function shownOf(call: Call, action: ToolCall['action']): Readonly<Record<string, unknown>> {
  const [title, texts] = [call.title ?? '', textsOf(call)]
  return { [action === 'run' ? 'command' : 'title']: title, ...(texts.length > 0 && { text: texts.join('\n') }) }
}

function toolOf(call: Call, title: string): string {
  const meta = call._meta ?? {}
  const claude = isRecord(meta['claudeCode']) ? meta['claudeCode']['toolName'] : undefined
  const named = [call.name, meta['toolName'], claude].find(isText)
  if (named !== undefined) return named
  // Gemini's IDs start with the tool: `write_file__call_1`.
  const prefix = /^([a-z][a-z_]*?)__/.exec(call.toolCallId)?.[1]
  if (prefix !== undefined) return prefix
  const word = /^[\w-]+(?= \(|$)/.exec(title)?.[0]
  return word ?? call.kind ?? 'tool'
}

/** If an agent sends no input of a tool, the text that it shows may contain it. */
function inputOf(call: Call): Readonly<Record<string, unknown>> {
  if (isRecord(call.rawInput)) return call.rawInput
  const shown = parseJson(textsOf(call)[0] ?? '')
  return isRecord(shown) ? shown : {}
}

function actionOf(call: Call, tool: string, title: string, diff: ToolCall['diff']): ToolCall['action'] {
  if (ourTool.test(tool) || tool.startsWith('mcp__') || /\(\S+ MCP Server\)$/.test(title)) return 'mcp'
  const action = Object.hasOwn(actions, call.kind ?? '') ? actions[call.kind ?? ''] : undefined
  return action === 'edit' && diff?.old_text === null ? 'write' : (action ?? 'other')
}

function targetOf(
  call: Call,
  input: Readonly<Record<string, unknown>>,
  action: ToolCall['action'],
  cwd: string,
): string | null {
  const path = [call.locations?.[0]?.path, diffContent(call)?.path].find(isText)
  const place = path === undefined ? undefined : relativeToCwd(path, cwd)
  const inner = Object.values(input).find(isText)
  const words =
    action === 'run'
      ? (input['command'] ?? call.title)
      : action === 'search'
        ? (input['pattern'] ?? input['query'] ?? call.title)
        : action === 'mcp'
          ? inner
          : (place ?? inner ?? call.title)
  return typeof words === 'string' ? oneLine(words) || null : null
}

const diffContent = (call: Call) => call.content?.find((part) => part.type === 'diff')

function diffOf(call: Call, input: Readonly<Record<string, unknown>>, cwd: string): ToolCall['diff'] {
  const given = diffContent(call)
  const path = given?.path ?? [input['filePath'], input['file_path'], input['path']].find(isText)
  const change =
    given?.newText === undefined ? changeOf(input) : { old_text: given.oldText || null, new_text: given.newText }
  if (path === undefined || change === null) return null
  if ((change.old_text?.length ?? 0) + change.new_text.length > maxDiffText) return null
  return { path: relativeToCwd(path, cwd), ...change }
}

/** Some agents report a change only in the input of their tool. */
function changeOf(input: Readonly<Record<string, unknown>>): { old_text: string | null; new_text: string } | null {
  const after = [input['newString'], input['new_string'], input['new_str']].find((text) => typeof text === 'string')
  const before = [input['oldString'], input['old_string'], input['old_str']].find((text) => typeof text === 'string')
  if (after !== undefined) return { old_text: before || null, new_text: after }
  const whole = [input['content'], input['file_text']].find((text) => typeof text === 'string')
  return whole === undefined ? null : { old_text: null, new_text: whole }
}

/** Returns the result of a finished call. A failed command is a failure even if the agent says only that it ran. */
export function resultOfCall(call: Call): { readonly ok: boolean; readonly text: string } {
  const output = isRecord(call.rawOutput) ? call.rawOutput : {}
  const raw = [call.rawOutput, output['output'], output['content']].find((text) => typeof text === 'string')
  const text = textsOf(call).join('\n') || raw || ''
  const ok = call.status === 'completed' && (exitCodeIn(output) ?? 0) === 0
  return { ok, text: clip(text.replace(/^```(?:console)?\n([\s\S]*)\n```$/, '$1')) }
}

const textsOf = (call: Call): string[] =>
  (call.content ?? []).flatMap((part) => (part.content?.text === undefined ? [] : [part.content.text]))

function exitCodeIn(output: Readonly<Record<string, unknown>>): number | null {
  const metadata = isRecord(output['metadata']) ? output['metadata'] : {}
  const contents: unknown = Array.isArray(output['contents']) ? output['contents'][0] : undefined
  const codes = [output['exitCode'], metadata['exit'], isRecord(contents) ? contents['exitCode'] : undefined]
  return codes.find((code) => typeof code === 'number') ?? null
}
