import { hostProblem } from '../../../src-shared/contract/allowed-hosts.ts'
import type { AgentConfig } from '../../../src-shared/contract/projects.ts'
import type { DeniedEntry } from './transcript-rows.ts'

type Denied = Pick<DeniedEntry, 'what' | 'target' | 'access'>

/** Returns whether the current configuration of the agent allows the access. */
export function isAllowed(
  { containment = 'none', allowed_hosts = [], extra_paths }: AgentConfig,
  denied: Denied,
): boolean {
  if (containment === 'none') return true
  return denied.what === 'host'
    ? containment !== 'worktree_and_hosts' || allowed_hosts.includes(denied.target)
    : [...(extra_paths?.write ?? []), ...(denied.access === 'read' ? (extra_paths?.read ?? []) : [])].includes(
        denied.target,
      )
}

/** Returns whether a configuration can allow the access. */
export const canBeAllowed = ({ what, target }: Denied): boolean => what === 'path' || hostProblem(target) === null

/** Returns the configuration that also allows the access; a writable path is readable too. */
export function allowedToo(config: AgentConfig, { what, target, access = 'write' }: Denied): AgentConfig {
  if (what === 'host') return { ...config, allowed_hosts: [...(config.allowed_hosts ?? []), target] }
  const { [access]: paths = [], ...others } = config.extra_paths ?? {}
  return { ...config, extra_paths: { ...others, [access]: [...paths, target] } }
}
