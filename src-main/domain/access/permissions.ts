import {
  executorInfos,
  type ExecutorProfile,
  type PermissionPolicy,
} from '../../../src-shared/contract/executor-profiles.ts'
import type { Refusal } from '../../../src-shared/contract/errors.ts'
import type { TranscriptEntry } from '../../../src-shared/contract/executions.ts'
import type { AgentConfig } from '../../../src-shared/contract/projects.ts'
import { invalidInput } from '../refusal.ts'

/** Why an agent can't be held to what its configuration says; null when it can. What a daemon hosts can't ask here. */
export function checkPermissions(agent: {
  readonly executor: ExecutorProfile
  readonly daemon_id: string | null
  readonly config: Pick<AgentConfig, 'permissions'>
}): Refusal | null {
  const policy = policyOf(agent.config)
  const able: readonly PermissionPolicy[] =
    agent.daemon_id === null ? executorInfos[agent.executor].permissions : ['all']
  if (able.includes(policy)) return null
  const who = agent.daemon_id === null ? `An agent of the kind ${agent.executor}` : 'An agent on another machine'
  const message = `${who} can't ask for permission. Let it do ${able.map((one) => `\`${one}\``).join(' or ')}, or take another kind.`
  return invalidInput('config.permissions', message)
}

/** What an agent is held to. */
export const policyOf = ({ permissions = 'all' }: Pick<AgentConfig, 'permissions'>): PermissionPolicy => permissions

/** What an agent wants to do, as far as it says. */
export interface AskedAction {
  readonly action: Extract<TranscriptEntry, { type: 'tool_call' }>['action']
  /** It is one of our own tools, and reads, or writes to the agent's own task: see `staysInOwnTask`. */
  readonly ours: boolean
  /** The places in the worktree that it names, relative to it with `/`; null when it names others, too. */
  readonly places: readonly string[] | null
}

/** Our tools that write to a task that is never the agent's own. */
const writesElsewhere = /(?:^|[^a-z])svc_(?:create_task|assign_agent)$/
/** Our tools that change nothing. */
const readsOnly = /(?:^|[^a-z])svc_(?:get|list)_\w+$/

/**
 * Whether a call of one of our own tools reads, or writes to the agent's own task only. What writes to another task
 * counts as a command, since a task starts agents. `input` is what the agent tells of it; without a `task_id` our tools
 * take its own.
 */
export function staysInOwnTask(tool: string, input: unknown, task_id: string): boolean {
  if (readsOnly.test(tool)) return true
  if (writesElsewhere.test(tool)) return false
  const named = typeof input === 'object' && input !== null && 'task_id' in input ? input.task_id : undefined
  return named === undefined || named === task_id
}

/** Whether an agent may do this by itself. `configNames`: what steers agents, wherever it lies, in lower case. */
export function mayActAlone(
  policy: PermissionPolicy,
  { action, ours, places }: AskedAction,
  configNames: ReadonlySet<string>,
): boolean {
  if (policy === 'all' || ours) return true
  if (places === null) return false
  if (action === 'read' || action === 'search') return true
  const changes = action === 'edit' || action === 'write'
  return (
    policy === 'worktree' && changes && places.length > 0 && !places.some((place) => isProtected(place, configNames))
  )
}

/** Whoever may write these decides what git, shells, editors and MCP clients do without asking. */
const protectedNames: ReadonlySet<string> = new Set([
  ...['.git', '.gitmodules', '.svc.lock', '.mcp.json', '.envrc'],
  ...['.vscode', '.husky'],
])

function isProtected(place: string, configNames: ReadonlySet<string>): boolean {
  const names = place.split('/').map((name) => name.toLowerCase())
  return names.some((name) => protectedNames.has(name) || configNames.has(name))
}
