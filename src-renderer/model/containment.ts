import type { ContainmentLevel, ContainmentStatus } from '../../src-shared/contract/containment.ts'
import type { AgentConfig } from '../../src-shared/contract/projects.ts'

/** Containment settings while they are edited: one host or path per line. */
export interface ContainmentDraft {
  /** null: not chosen yet, which acts like `none`. */
  readonly level: ContainmentLevel | null
  readonly hosts: string
  readonly read: string
  readonly write: string
}

export const containmentOrder: readonly ContainmentLevel[] = ['auto', 'worktree', 'worktree_and_hosts', 'none']

/** The label of each level in the list. */
export const containmentLabels: Readonly<Record<ContainmentLevel, string>> = {
  auto: 'Contained if this machine can (recommended)',
  worktree: 'Contained to the worktree',
  worktree_and_hosts: 'Contained to the worktree and listed hosts',
  none: 'Not contained',
}

/** The effect of each level on a run. */
export const containmentMeaning: Readonly<Record<ContainmentLevel, string>> = {
  auto: 'Like “Contained to the worktree”. Not contained if this machine can’t.',
  worktree:
    'Writes only the worktree, its commits and package caches. Can’t read your home but for toolchains, or other tasks. Uses the network.',
  worktree_and_hosts:
    'Like “Contained to the worktree”, but reaches only Copse and the hosts below. Agents also reach their model.',
  none: 'Runs with all your rights: your files, keys and network.',
}

/** The sentence that describes a run's containment. */
export const heldLabels: Readonly<Record<Exclude<ContainmentLevel, 'auto'>, string>> = {
  none: 'Not contained: runs with all your rights.',
  worktree: 'Contained to its worktree, commits and package caches.',
  worktree_and_hosts: 'Contained to its worktree, commits and package caches, and to the hosts it needs.',
}

type Contained = Pick<AgentConfig, 'containment' | 'allowed_hosts' | 'extra_paths'>

export const containmentDraft = ({
  containment,
  allowed_hosts = [],
  extra_paths = {},
}: Contained): ContainmentDraft => ({
  level: containment ?? null,
  hosts: allowed_hosts.join('\n'),
  read: (extra_paths.read ?? []).join('\n'),
  write: (extra_paths.write ?? []).join('\n'),
})

/** Returns the settings of a draft. Omits an unchosen level and empty lists. */
export function containmentOf({ level, ...lists }: ContainmentDraft): Contained {
  const [hosts, read, write] = [lists.hosts, lists.read, lists.write].map(linesIn)
  const paths = { ...(read?.length && { read }), ...(write?.length && { write }) }
  return {
    ...(level !== null && { containment: level }),
    ...(hosts?.length && { allowed_hosts: hosts }),
    ...(Object.keys(paths).length > 0 && { extra_paths: paths }),
  }
}

const linesIn = (text: string): string[] => text.split('\n').flatMap((line) => line.trim() || [])

/** Returns why the chosen level does not hold on this machine, and the consequence; null if it holds. */
export function containmentWarning(
  level: ContainmentLevel | null,
  status: ContainmentStatus | undefined,
): string | null {
  if (status === undefined || level === null || level === 'none') return null
  if (status.available) return level === 'auto' ? status.reason : null
  const then = level === 'auto' ? 'It won’t be contained.' : 'It won’t start.'
  return `This machine can’t contain it. ${status.reason ?? ''} ${then}`
}
