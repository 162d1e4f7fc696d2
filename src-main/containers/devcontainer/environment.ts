import { createHash } from 'node:crypto'
import { lstatSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute } from 'node:path'
import { isWithin } from '../../platform/path-names.ts'
import { quoted } from '../../platform/process/process-shell.ts'
import { ContainmentUnavailable } from '../../ports/containment.ts'
import { commandsOf, mountText, type Command, type DevcontainerConfig, type Metadata } from './config.ts'

/** How programs run in a dev container, besides its image. */
export interface DevEnvironment {
  /** The user by name or number, as the image or its configuration says. */
  readonly user: string
  /** Further arguments of each container; an admin trusts what they come from. */
  readonly args: readonly string[]
  /** Shell lines that set the variables. */
  readonly variables: string
  /** Shell lines that run when a container starts. */
  readonly starts: string
  /** A shell script that makes the container ready for its worktree; empty if nothing has to run. */
  readonly creation: string
}

/** What a configuration is used for. */
export interface DevUse {
  readonly config: DevcontainerConfig
  readonly metadata: readonly Metadata[]
  /** The user that the image itself names; empty for root. */
  readonly imageUser: string
  /** The worktree, which the container has at its own path. */
  readonly cwd: string
}

/** Works out how programs run in a dev container. Throws `ContainmentUnavailable` if a mount can't be. */
export function environmentOf({ config, metadata, imageUser, cwd }: DevUse): DevEnvironment {
  const filled = (text: string): string => fillIn(text, cwd)
  const all = (key: 'onCreateCommand' | 'updateContentCommand' | 'postCreateCommand' | 'postStartCommand'): string =>
    metadata.map((one) => commandScript(one[key], filled)).join('')
  const variables = (['containerEnv', 'remoteEnv'] as const).flatMap((key) =>
    metadata.flatMap((one) => Object.entries(one[key] ?? {}).map(([name, value]) => variableLine(name, value, filled))),
  )
  // What features start comes first, as its own programs do.
  const entrypoints = metadata.flatMap(({ entrypoint }) =>
    entrypoint === undefined ? [] : [`${filled(entrypoint)} || exit\n`],
  )
  const starts = `${entrypoints.join('')}${all('postStartCommand')}`
  return {
    user:
      metadata.findLast(({ remoteUser }) => remoteUser)?.remoteUser ?? containerUser(metadata) ?? (imageUser || 'root'),
    args: [
      ...metadata.flatMap(({ mounts = [] }) =>
        mounts.flatMap((one) => ['--mount', heldIn(filled(mountText(one)), cwd, true)]),
      ),
      ...(metadata.some(({ privileged }) => privileged === true) ? ['--privileged'] : []),
      ...metadata.flatMap(({ capAdd = [] }) => capAdd.flatMap((name) => ['--cap-add', name])),
      ...metadata.flatMap(({ securityOpt = [] }) =>
        securityOpt.flatMap((text) => ['--security-opt', heldIn(filled(text), cwd, false)]),
      ),
      ...withoutOwn(config.runArgs ?? []).map((text) => heldIn(filled(text), cwd, false)),
    ],
    variables: variables.join(''),
    // Programs are read by their output, which is not what they were started with.
    starts:
      starts === ''
        ? ''
        : `(\n${starts}) >&2 </dev/null || { echo "A command that starts with the dev container failed." >&2; exit 1; }\n`,
    creation: [all('onCreateCommand'), all('updateContentCommand'), all('postCreateCommand')].join(''),
  }
}

const containerUser = (metadata: readonly Metadata[]): string | undefined =>
  metadata.findLast((one) => one.containerUser)?.containerUser

/** Fills in what a text says of the machine and the worktree. */
export function fillIn(text: string, cwd: string): string {
  return text.replaceAll(
    /\$\{(\w+)(?::([^:}]*))?(?::([^}]*))?\}/g,
    (all, kind: string, name?: string, otherwise?: string) => {
      switch (kind) {
        case 'localWorkspaceFolder':
        case 'containerWorkspaceFolder':
          return cwd
        case 'localWorkspaceFolderBasename':
        case 'containerWorkspaceFolderBasename':
          return basename(cwd)
        case 'devcontainerId':
          return createHash('sha256').update(cwd).digest('hex').slice(0, 32)
        case 'localEnv':
        case 'env':
          return process.env[name ?? ''] ?? otherwise ?? ''
        default:
          return all
      }
    },
  )
}

const isName = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)

/** Returns the line that sets a variable, whose value can name others of the container. */
function variableLine(name: string, value: string | null, filled: (text: string) => string): string {
  if (!isName(name)) return ''
  if (value === null) return `unset ${name}\n`
  const parts = filled(value).split(/(\$\{containerEnv:[^}]*\})/)
  const words = parts.map((part) => {
    const [, other = '', otherwise] = /^\$\{containerEnv:([^:}]*)(?::([^}]*))?\}$/.exec(part) ?? []
    if (!isName(other)) return quoted([part])
    return otherwise === undefined ? `\${${other}-}` : `\${${other}:-${quoted([otherwise])}}`
  })
  // An assignment alone splits no words.
  return `${name}=${words.join('')}\nexport ${name}\n`
}

/** Returns shell lines that run a command and end the script if it fails. */
function commandScript(command: Command | undefined, filled: (text: string) => string): string {
  const lines = commandsOf(command).map((words) => {
    const line = typeof words === 'string' ? quoted(['/bin/sh', '-c', filled(words)]) : quoted(words.map(filled))
    const shown = typeof words === 'string' ? words : words.join(' ')
    return { line, told: `echo ${quoted([`$ ${shown}`])}\n` }
  })
  const [first, second] = lines
  if (first === undefined) return ''
  if (second === undefined) return `${first.told}${first.line} || exit\n`
  const starts = lines.map(({ line, told }) => `${told}${line} &\nparts="$parts $!"\n`).join('')
  return `parts=\n${starts}for part in $parts; do wait "$part" || exit; done\n`
}

/** Leaves out what would give all containers one name, or make an end of them something else. */
function withoutOwn(args: readonly string[]): readonly string[] {
  const kept: string[] = []
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? ''
    if (/^(?:--rm|-d|--detach)$/.test(arg) || /^--(?:name|cidfile|restart)=/.test(arg)) continue
    if (/^--(?:name|cidfile|restart)$/.test(arg)) at += 1
    else kept.push(arg)
  }
  return kept
}

/**
 * Returns a text with the paths in the worktree as what they are there: a link of a branch must not lead out of it,
 * whatever was trusted. `isNeeded`: a path must be there.
 */
function heldIn(text: string, cwd: string, isNeeded: boolean): string {
  if (!text.includes(cwd)) return text
  if (/\b(?:seccomp|apparmor)=/.test(text))
    throw new ContainmentUnavailable(
      'The dev container reads rules of its security from the worktree, where a branch can change them.',
    )
  const root = realpathSync(cwd)
  return text.replaceAll(/[^:,="\s]+/g, (path) => {
    if (!isAbsolute(path) || !isWithin(path, cwd)) return path
    const real = realOrNull(path)
    if (real === null && !isNeeded && isWithin(existing(path), root)) return path
    if (real === null || !isWithin(real, root))
      throw new ContainmentUnavailable(`The dev container uses ${path}, which leads out of the worktree or is missing.`)
    return real
  })
}

/** Returns what there is of a path that is missing; a link that leads nowhere yet is not within anything. */
function existing(path: string): string {
  let at = path
  for (let real = realOrNull(at); ; real = realOrNull(at)) {
    if (real !== null) return real
    if (lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink() === true) return '/'
    at = dirname(at)
  }
}

function realOrNull(path: string): string | null {
  try {
    return realpathSync(path)
  } catch {
    return null
  }
}
