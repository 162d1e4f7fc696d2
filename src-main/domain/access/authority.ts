import type { HeldContainment } from '../../../src-shared/contract/containment.ts'
import type { Refusal } from '../../../src-shared/contract/errors.ts'
import type { AgentId } from '../../../src-shared/contract/ids.ts'
import type { AgentConfig } from '../../../src-shared/contract/projects.ts'

/** The containment that a run has, and that whatever starts on its word must keep to. */
export interface HeldRules {
  readonly level: Exclude<HeldContainment, 'none'>
  readonly hosts: readonly string[]
  readonly read: readonly string[]
  readonly write: readonly string[]
}

/** What an agent may do that the rules don't allow. */
export type Lack = 'containment' | 'allowed_hosts' | 'extra_paths'

const strictness: readonly HeldContainment[] = ['none', 'worktree', 'worktree_and_hosts']

/** Returns the rules of a run of this configuration; null if it is not contained. */
export function rulesOf(level: HeldContainment, config: AgentConfig): HeldRules | null {
  if (level === 'none') return null
  const { allowed_hosts = [], extra_paths = {} } = config
  return { level, hosts: allowed_hosts, read: extra_paths.read ?? [], write: extra_paths.write ?? [] }
}

/** Returns what an agent lacks to be at least as contained as the rules; nothing if it is. */
export function lacksOf(level: HeldContainment, config: AgentConfig, rules: HeldRules): readonly Lack[] {
  if (strictness.indexOf(level) < strictness.indexOf(rules.level)) return ['containment']
  const { allowed_hosts = [], extra_paths = {} } = config
  const isReadable = (path: string): boolean => isBelow(path, [...rules.read, ...rules.write])
  const isWritable = (path: string): boolean => isBelow(path, rules.write)
  const keepsToHosts = rules.level !== 'worktree_and_hosts' || allowed_hosts.every((host) => covers(rules.hosts, host))
  const keepsToPaths = (extra_paths.read ?? []).every(isReadable) && (extra_paths.write ?? []).every(isWritable)
  return [...(keepsToHosts ? [] : (['allowed_hosts'] as const)), ...(keepsToPaths ? [] : (['extra_paths'] as const))]
}

/** By name only: `~` and the home folder's own name are two folders. A path that climbs is below nothing. */
const isBelow = (path: string, folders: readonly string[]): boolean =>
  !path.split('/').includes('..') && folders.some((folder) => path === folder || path.startsWith(`${folder}/`))

function covers(hosts: readonly string[], wanted: string): boolean {
  const [name = '', port] = wanted.split(':')
  return hosts.some((host) => {
    const [pattern = '', itsPort] = host.split(':')
    if (itsPort !== undefined && itsPort !== port) return false
    return name === pattern || (pattern.startsWith('*.') && name.endsWith(pattern.slice(1)))
  })
}

/** The refusal of a start that only a person may ask for. */
export function needsPerson(agent: { readonly id: AgentId; readonly name: string }, lacks: readonly Lack[]): Refusal {
  const words = { containment: 'it is not', allowed_hosts: 'it has more hosts', extra_paths: 'it has more paths' }
  const why = lacks.map((lack) => words[lack]).join(', ')
  return {
    code: 'needs_person',
    message: `${agent.name} must be at least as contained as the run that asks for it, and ${why}. A person can start it.`,
    details: { agent_id: agent.id, lacks: [...lacks] },
  }
}
