import type { AskOption, ToolAction, TranscriptEntry } from '../../../src-shared/contract/executions.ts'
import { mayActAlone, policyOf, staysInOwnTask } from '../../domain/access/permissions.ts'
import type { AgentRequestAnswer, AgentRequest } from '../../ports/executors.ts'
import type { AgentRun } from '../definition.ts'
import { resolveToolPaths } from './places.ts'
import { isRecord, isText, oneLine } from './text.ts'

/** A tool call that needs permission. */
export interface PermissionRequest extends Pick<
  Extract<TranscriptEntry, { type: 'tool_call' }>,
  'tool' | 'target' | 'diff'
> {
  readonly action: ToolAction
  /** All that the tool is given, unclipped. */
  readonly input: unknown
  /** The tool is one of Copse's own. */
  readonly ours: boolean
  /** Every path that the call names. */
  readonly paths: readonly string[]
}

export interface Verdict {
  readonly allowed: boolean
  /** The person's reason for a denial, if given. */
  readonly reason: string | null
}

/** Decides permission requests: by policy, by what a person allowed for the run, or by asking a person. */
export interface Permissions {
  /** Aborting `signal` withdraws the request, which denies it. */
  decide(call: PermissionRequest, signal: AbortSignal): Promise<Verdict>
  /** Returns whether the agent may do this without asking. */
  mayActAlone(call: PermissionRequest): Promise<boolean>
  /** Asks people an agent's question; resolves with null if no one will answer. */
  ask(request: AgentRequest, signal: AbortSignal): Promise<AgentRequestAnswer | null>
}

export interface PermissionOptions {
  /** The agent's protocol can carry the reason of a denial. */
  readonly tellsWhy: boolean
}

export function createPermissions(
  run: Pick<AgentRun, 'config' | 'cwd' | 'ask' | 'task_id' | 'protectedNames'>,
  { tellsWhy }: PermissionOptions,
): Permissions {
  const policy = policyOf(run.config)
  const allowed = new Set<string>()
  const ask: Permissions['ask'] = async (request, signal) => (await run.ask?.(request, { signal })) ?? null
  const describe = async (call: PermissionRequest) => ({
    action: call.action,
    ours: call.ours && staysInOwnTask(call.tool, call.input, run.task_id),
    places: await resolveToolPaths(run.cwd, call.paths),
  })
  return {
    ask,
    mayActAlone: async (call) => mayActAlone(policy, await describe(call), run.protectedNames),
    decide: async (call, signal) => {
      const alone = await describe(call)
      if (mayActAlone(policy, alone, run.protectedNames)) return yes
      const lasting = lastingOf(call, mayActAlone('worktree', alone, run.protectedNames))
      if (allowed.has(lasting.key)) return yes
      if (JSON.stringify(call.input)?.length > longestShown) return { allowed: false, reason: tooLong }
      const answer = await ask(requestOf(call, lasting.label, tellsWhy), signal)
      if (answer?.option?.kind === 'allow_always') allowed.add(lasting.key)
      const isYes = answer?.option?.kind === 'allow_once' || answer?.option?.kind === 'allow_always'
      return isYes ? yes : { allowed: false, reason: answer?.text ?? null }
    },
  }
}

const yes: Verdict = { allowed: true, reason: null }

/** People allow what they read, so what is too long to be read is not asked. */
const longestShown = 200_000
const tooLong = 'It is too long for a person to read. Put it into a file of the worktree.'

/** Returns what "allow for this run" covers: all edits in the worktree, or else just this call. */
function lastingOf(call: PermissionRequest, isEdit: boolean): { readonly key: string; readonly label: string } {
  if (isEdit) return { key: 'edits', label: 'Allow all edits for this run' }
  const command = commandIn(call)
  if (command !== null) return { key: `run ${command}`, label: 'Allow this command for this run' }
  return { key: JSON.stringify([call.tool, call.input, call.paths]), label: 'Allow this in this run' }
}

function requestOf(call: PermissionRequest, always: string, tellsWhy: boolean): AgentRequest {
  const { tool, action, target, diff } = call
  return {
    kind: 'permission',
    text: sentences[action](target ?? oneLine(tool), oneLine(tool)),
    tool,
    action,
    target,
    diff,
    detail: commandIn(call) ?? (diff === null ? inputOf(call) : null),
    options: permissionOptions('Allow', always),
    multiple: false,
    takes_text: tellsWhy,
  }
}

/** Returns the answers to a request for permission; `always` labels the one that lasts. */
export function permissionOptions(once: string, always: string): AskOption[] {
  const option = (id: string, label: string, kind: AskOption['kind']): AskOption => ({
    id,
    label,
    kind,
    description: null,
  })
  return [
    option('allow', once, 'allow_once'),
    option('allow_always', always, 'allow_always'),
    option('reject', 'Deny', 'reject_once'),
  ]
}

const sentences: { readonly [A in ToolAction]: (target: string, tool: string) => string } = {
  read: (target) => `Asks to read ${target}`,
  search: (target) => `Asks to search ${target}`,
  edit: (target) => `Asks to change ${target}`,
  write: (target) => `Asks to write ${target}`,
  run: (target) => `Wants to run ${target}`,
  fetch: (target) => `Asks to fetch ${target}`,
  mcp: (_target, tool) => `Asks to use ${tool}`,
  other: (_target, tool) => `Asks to use ${tool}`,
}

/** Returns a command that is all of its call; whatever else would be given with it must be read too. */
function commandIn({ action, input }: PermissionRequest): string | null {
  if (action !== 'run' || !isRecord(input) || !isText(input['command'])) return null
  return Object.keys(input).every((name) => harmless.has(name)) ? input['command'] : null
}

/** What says nothing about what a command does, nor where. */
const harmless: ReadonlySet<string> = new Set(['command', 'description', 'timeout'])

const inputOf = ({ input }: PermissionRequest): string | null =>
  isRecord(input) && Object.keys(input).length > 0 ? JSON.stringify(input, null, 2) : null
