import { quoted } from '../platform/process/process-shell.ts'
import type { AgentPrograms } from '../ports/agent-programs.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import { containerArgs } from './container-args.ts'
import { askEngine, type EngineAnswer } from './engine-client.ts'
import type { ContainerRunner } from './container-config.ts'
import type { Ground } from './ground-parts.ts'
import { installationOf } from './ground.ts'

export interface ImagePrograms extends AgentPrograms {
  /** Returns which of these names are programs, with their paths. */
  findAll(names: readonly string[], options: Cancellable): Promise<ReadonlyMap<string, string>>
}

export interface ImageLook {
  readonly runner: ContainerRunner
  readonly dataDir: string
  readonly ground: () => Promise<Ground>
}

const lookLimitMs = 30_000
/** As shells report a program that is missing or can't be run. */
const notRun = new Set([125, 126, 127])

/** Looks into a runner's image and tools by containers without a network. */
export function lookIntoImage(look: ImageLook): ImagePrograms {
  const known = new Map<string, string>()
  let lookedIn: string | null = null
  const findAll: ImagePrograms['findAll'] = async (names, options) => {
    // A worktree gets another image when its dev container has changed.
    const { image } = await look.ground()
    if (image !== lookedIn) known.clear()
    lookedIn = image
    const missing = names.filter((name) => !known.has(name))
    if (missing.length > 0) {
      const script = 'for name in "$@"; do echo "$name=$(command -v -- "$name")"; done'
      const { stdout } = await runInImage(look, [script, 'sh', ...missing], options)
      for (const line of stdout.split('\n')) {
        const [name = '', path = ''] = line.split(/=(.*)/s)
        if (path.startsWith('/')) known.set(name, path)
      }
    }
    return new Map(names.flatMap((name) => (known.has(name) ? [[name, known.get(name) ?? ''] as const] : [])))
  }
  return {
    findAll,
    // A path may be in the worktree or the home, which a look does not have.
    find: async (name, options) => (name.includes('/') ? name : ((await findAll([name], options)).get(name) ?? null)),
    ask: async (path, args, options) => {
      const answer = await runInImage(look, ['exec "$@"', 'sh', path, ...args], options)
      return notRun.has(answer.exit_code) ? null : answer
    },
  }
}

/** Runs a script with its name and arguments in a container of its own. */
async function runInImage(
  { runner, dataDir, ground }: ImageLook,
  words: readonly string[],
  options: Cancellable,
): Promise<EngineAnswer> {
  const { client, user, image, tools, dev } = await ground()
  const [script = '', ...args] = words
  const start = containerArgs(
    { user, tools },
    {
      runner,
      installation: installationOf(dataDir),
      job: 'look',
      network: 'none',
      cwd: '/',
      mounts: [],
      env: { HOME: '/tmp' },
    },
  )
  const variables = dev?.variables ?? ''
  const path = tools === null ? '' : `PATH=${quoted([`${tools}/bin`])}:"$PATH"; export PATH; `
  return await askEngine(client, [...start, '/bin/sh', image, '-c', `${variables}${path}${script}`, ...args], {
    ...options,
    limitMs: lookLimitMs,
  })
}
