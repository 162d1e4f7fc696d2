import type { ViewMount } from '../ports/git-views.ts'
import type { ContainerConfig, ContainerRunner } from './container-config.ts'
import type { Ground } from './ground-parts.ts'

export const installationLabel = 'copse.installation'
/** The run that a container is of; of a script, its process marker. */
export const jobLabel = 'copse.job'
/** The marker of the tree that started a container. */
export const processLabel = 'copse.process'
/** The worktree that an image was made ready for. */
export const worktreeLabel = 'copse.worktree'

export interface ContainerSpec {
  readonly runner: ContainerRunner
  readonly installation: string
  readonly job: string
  readonly processMarker?: string
  readonly network: ContainerConfig['network']
  readonly cwd: string
  readonly mounts: readonly ViewMount[]
  /** It stays when its program has ended. */
  readonly isKept?: boolean
  /** Labels that its image gets too, where one is made of it. */
  readonly labels?: Readonly<Record<string, string>>
  /** Variables that are no secret: they can be read in the engine's records. */
  readonly env?: Readonly<Record<string, string>>
  /** Further arguments. */
  readonly more?: readonly string[]
}

/**
 * Returns the arguments that start a container which ends with its program, up to the name of that program, after
 * which the image and its arguments follow. Nothing is pulled, kept or logged by the engine.
 */
export function containerArgs({ user, tools }: Pick<Ground, 'user' | 'tools'>, spec: ContainerSpec): readonly string[] {
  const { runner, installation, job, processMarker, network, cwd, mounts, isKept, env = {}, more = [] } = spec
  const { cpus, memory_mb } = runner.config
  const labels = {
    [installationLabel]: installation,
    [jobLabel]: job,
    ...spec.labels,
    ...(processMarker !== undefined && { [processLabel]: processMarker }),
  }
  return [
    ...['run', ...(isKept === true ? [] : ['--rm']), '--interactive', '--pull', 'never', '--log-driver', 'none'],
    ...Object.entries(labels).flatMap(([name, value]) => ['--label', `${name}=${value}`]),
    ...user,
    // Labels of SELinux would keep a container from the worktree, and must not be put on a person's files.
    ...['--cap-drop', 'ALL', '--security-opt', 'no-new-privileges', '--security-opt', 'label=disable'],
    ...(network === 'open' ? [] : ['--network', 'none']),
    ...(cpus === undefined ? [] : ['--cpus', String(cpus)]),
    ...(memory_mb === undefined ? [] : ['--memory', `${memory_mb}m`]),
    ...(tools === null || mounts.some(({ to }) => to === tools)
      ? []
      : mountArgs({ from: tools, to: tools, writable: false })),
    ...mounts.flatMap(mountArgs),
    ...Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
    ...more,
    ...['--workdir', cwd, '--entrypoint'],
  ]
}

function mountArgs({ from, to, writable }: ViewMount): readonly string[] {
  const fields = ['type=bind', `source=${from}`, `target=${to}`, ...(writable ? [] : ['readonly'])]
  // Engines read the fields as a line of CSV.
  const text = fields.map((field) => (/[",\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field))
  return ['--mount', text.join(',')]
}
