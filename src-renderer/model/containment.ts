import type { ContainmentLevel, ContainmentStatus } from '../../src-shared/contract/containment.ts'
import type { AgentConfig } from '../../src-shared/contract/projects.ts'

/** Containment while it is being edited: hosts and paths one a line. */
export interface ContainmentDraft {
  /** null: nobody has chosen yet, which is as `none`. */
  readonly level: ContainmentLevel | null
  readonly hosts: string
  readonly read: string
  readonly write: string
}

export const containmentOrder: readonly ContainmentLevel[] = ['auto', 'worktree', 'worktree_and_hosts', 'none']

/** What each is called in a list to choose from. */
export const containmentLabels: Readonly<Record<ContainmentLevel, string>> = {
  auto: 'Contained if this machine can (recommended)',
  worktree: 'Contained to the worktree',
  worktree_and_hosts: 'Contained to the worktree and listed hosts',
  none: 'Not contained',
}

/** What each means for whatever runs so. */
export const containmentMeaning: Readonly<Record<ContainmentLevel, string>> = {
  auto: 'Like “Contained to the worktree”. Not contained if this machine can’t.',
  worktree:
    'Writes only the worktree, its commits and package caches. Can’t read your home but for toolchains, or other tasks. Uses the network.',
  worktree_and_hosts:
    'Like “Contained to the worktree”, but reaches only Copse and the hosts below. Agents also reach their model.',
  none: 'Runs with all your rights: your files, keys and network.',
}

/** What is said of a run. */
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

/** What is saved of a draft; what nobody chose or wrote is left out. */
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

/** Why what was chosen does not hold here, with what to do; null: it does. */
export function containmentWarning(
  level: ContainmentLevel | null,
  status: ContainmentStatus | undefined,
): string | null {
  if (status === undefined || level === null || level === 'none') return null
  if (status.available) return level === 'auto' ? status.reason : null
  const then = level === 'auto' ? 'It won’t be contained.' : 'It won’t start.'
  return `This machine can’t contain it. ${status.reason ?? ''} ${then}`
}
