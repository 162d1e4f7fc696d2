import { Argument, Option, type Command } from 'commander'
import { containmentLevels } from '../../src-shared/contract/containment-levels.ts'
import type { ContainmentLevel } from '../../src-shared/contract/containment.ts'
import type { AgentConfig } from '../../src-shared/contract/projects.ts'
import { collect, type CommandContext } from './command-context.ts'
import { findProject } from './find.ts'

export interface AllowOptions {
  readonly allowHost?: readonly string[]
  readonly allowBuildHosts?: true
  readonly allowRead?: readonly string[]
  readonly allowWrite?: readonly string[]
}

type Lists = Pick<AgentConfig, 'allowed_hosts' | 'extra_paths'>

/** Adds options for the hosts and folders that a contained run may use. */
export function addAllowOptions(command: Command): Command {
  return command
    .option('--allow-host <host>', 'host that it reaches under `worktree_and_hosts` (repeatable)', collect)
    .option('--allow-build-hosts', 'also the package registries and the hosts of the project’s remotes')
    .option('--allow-read <path>', 'path that it reads besides, absolute or below ~/ (repeatable)', collect)
    .option('--allow-write <path>', 'path that it writes besides (repeatable)', collect)
}

export const levelOption = (): Option =>
  new Option('--containment <level>', 'what the system lets it do (default: `auto`)').choices(containmentLevels)
export const levelArgument = (): Argument =>
  new Argument('<level>', 'what the system lets it do').choices(containmentLevels)

/** Replaces the lists of `before` by the given ones, and adds the hosts that builds of `project` need if told to. */
export async function allowed(
  scene: CommandContext,
  options: AllowOptions,
  { before = {}, project }: { readonly before?: Lists; readonly project?: string | undefined } = {},
): Promise<Lists> {
  const { allowBuildHosts, allowRead, allowWrite } = options
  const { allowed_hosts: hosts, extra_paths: paths = {} } = before
  const read = allowRead ?? paths.read
  const write = allowWrite ?? paths.write
  const build = allowBuildHosts ? await buildHosts(scene, project) : []
  const chosen = options.allowHost ?? hosts
  const allowed_hosts = build.length > 0 ? [...new Set([...(chosen ?? []), ...build])] : chosen
  return {
    ...(allowed_hosts && { allowed_hosts: [...allowed_hosts] }),
    ...((read ?? write) && {
      extra_paths: { ...(read && { read: [...read] }), ...(write && { write: [...write] }) },
    }),
  }
}

async function buildHosts(scene: CommandContext, project: string | undefined): Promise<readonly string[]> {
  const { id: project_id } = await findProject(scene, project)
  return (await scene.client.call('repos.build_hosts', { project_id })).items
}

const meaning: Readonly<Record<ContainmentLevel, string>> = {
  auto: 'contained to the worktree where the machine can',
  none: 'not contained',
  worktree: 'contained to the worktree',
  worktree_and_hosts: 'contained to the worktree and the hosts that are needed',
}

export const containedText = (who: string, level: ContainmentLevel): string => `${who} ${meaning[level]}.`

/** Prints why containment has no effect on the service's machine, if so. */
export async function reportMachine({ client, out }: CommandContext, level: ContainmentLevel): Promise<void> {
  if (level === 'none' || out.json) return
  const { available, reason } = (await client.call('system.get', {})).containment
  if (reason !== null && (!available || level === 'auto')) out.info(reason)
}
