import {
  executorInfos,
  type ExecutorProfile,
  type PermissionPolicy,
} from '../../../src-shared/contract/executor-profiles.ts'
import type { Refusal } from '../../../src-shared/contract/errors.ts'
import type { TranscriptEntry } from '../../../src-shared/contract/executions.ts'
import type { AgentConfig } from '../../../src-shared/contract/projects.ts'
import { invalidInput } from '../refusal.ts'

/**
 * Returns why an agent's permissions can't be enforced; null when they can. An agent on a daemon can't ask for
 * permission.
 */
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

/** Returns the permission policy of an agent. */
export const policyOf = ({ permissions = 'all' }: Pick<AgentConfig, 'permissions'>): PermissionPolicy => permissions

/** An action that an agent asks permission for, as far as its request describes it. */
export interface AskedAction {
  readonly action: Extract<TranscriptEntry, { type: 'tool_call' }>['action']
  /**
   * The action is a call of one of Copse's own tools that only reads, or writes to the agent's own task: see
   * `staysInOwnTask`.
   */
  readonly ours: boolean
  /** The paths in the worktree that the request names, relative to it with `/`; null when it also names others. */
  readonly places: readonly string[] | null
}

/** Copse's tools that write to another task than the agent's own. */
const writesElsewhere = /(?:^|[^a-z])svc_(?:create_task|assign_agent)$/
/** Copse's tools that change nothing. */
const readsOnly = /(?:^|[^a-z])svc_(?:get|list)_\w+$/

/**
 * Returns whether a call of one of Copse's own tools only reads, or writes to the agent's own task. A write to another
 * task counts as a command, since a task starts agents. `input` is the agent's own description of the call; without a
 * `task_id` the tools use its task.
 */
export function staysInOwnTask(tool: string, input: unknown, task_id: string): boolean {
  if (readsOnly.test(tool)) return true
  if (writesElsewhere.test(tool)) return false
  const named = typeof input === 'object' && input !== null && 'task_id' in input ? input.task_id : undefined
  return named === undefined || named === task_id
}

/**
 * Returns whether an agent may do this without asking. `configNames`: lower-case names of files that configure
 * agents,
 * in any folder.
 */
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

/** Files that decide what git, shells, editors and MCP clients run without asking. */
const protectedNames: ReadonlySet<string> = new Set([
  ...['.git', '.gitmodules', '.svc.lock', '.mcp.json', '.envrc'],
  ...['.vscode', '.husky'],
])

function isProtected(place: string, configNames: ReadonlySet<string>): boolean {
  const names = place.split('/').map((name) => name.toLowerCase())
  return names.some((name) => protectedNames.has(name) || configNames.has(name))
}
