import { mkdtemp, rm, stat, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { addressOf, forwardPort, listeningScript } from '../platform/process/port-forwarders.ts'
import { quoted } from '../platform/process/process-shell.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import { ContainmentUnavailable } from '../ports/containment.ts'
import type { ContainerConfig } from './container-config.ts'
import { runCli } from './devcontainer/cli.ts'
import { containerArgs } from './container-args.ts'
import { askEngine, lastWords, NoEngine, type EngineAnswer } from './engine-client.ts'
import type { Engine } from './ground-parts.ts'
import { installationOf, missingImage, noSocat, reachEngine, WrongClient } from './ground.ts'
import { copySocat } from './socat-copy.ts'

/** One thing that was looked at. */
export interface RunnerCheck {
  readonly name:
    | 'engine'
    | 'dev containers'
    | 'image'
    | 'start'
    | 'git'
    | 'file owner'
    | 'disk'
    | 'copse'
    | 'hosts'
    | 'agents'
  readonly ok: boolean
  /** What was found, in a sentence. */
  readonly message: string
  /** What to do about it; null if it is fine. */
  readonly fix: string | null
}

export interface RunnerCheckOptions extends Cancellable {
  readonly dataDir: string
  /** The API's URL, or null while it doesn't listen. */
  readonly apiUrl: string | null
  /** Why containers can't be led to allowed hosts on this machine; null if they can. */
  readonly hostsProblem: string | null
  /** Names of agents' programs. */
  readonly agents: readonly string[]
}

/** Below this much room a build or a clone soon fails. */
const leastRoomBytes = 2 * 1024 ** 3

/**
 * Looks whether containers can be started as a runner's configuration says, step by step; it ends where later steps
 * could not work. Pulls nothing and leaves nothing.
 */
export async function checkContainerRunner(
  config: ContainerConfig,
  options: RunnerCheckOptions,
): Promise<readonly RunnerCheck[]> {
  const { signal } = options
  if (process.platform !== 'linux') {
    const message = 'Containers run where Copse runs on Linux only.'
    return [failed('engine', message, 'Choose another kind of runner.')]
  }
  const reached = await findReachable(config, { signal })
  if ('ok' in reached) return [reached]
  const { client, user } = reached
  const name = basename(client.program)
  const steps: RunnerCheck[] = [passed('engine', `${name} answers.`)]
  if (config.devcontainer === true) return [...steps, await devStep({ signal }), await roomStep(options.dataDir)]
  const { image = '' } = config
  const found = await askEngine(client, ['image', 'inspect', '--format', '{{.Id}}', image], { signal })
  if (found.exit_code !== 0) {
    const message = `The image ${image} is not on this machine.`
    return [...steps, failed('image', message, missingImage(client, image))]
  }
  steps.push(passed('image', `The image ${image} is on this machine.`))
  const folder = await mkdtemp(join(tmpdir(), 'copse-check-'))
  try {
    const seen = await startOne(config, { ...options, client, user, folder })
    if ('ok' in seen) return [...steps, seen]
    return [
      ...steps,
      passed('start', 'A container with a shell was started.'),
      ...(await readSteps(seen, folder)),
      ...(config.network === 'hosts' ? [hostsStep(options)] : []),
    ]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const passed = (name: RunnerCheck['name'], message: string): RunnerCheck => ({ name, ok: true, message, fix: null })
const failed = (name: RunnerCheck['name'], message: string, fix: string | null): RunnerCheck => ({
  name,
  ok: false,
  message,
  fix,
})

async function findReachable({ engine }: ContainerConfig, options: Cancellable): Promise<Engine | RunnerCheck> {
  try {
    return await reachEngine(engine, options)
  } catch (error) {
    if (error instanceof NoEngine) return failed('engine', error.message, 'Install docker or podman, then check again.')
    if (error instanceof WrongClient) return failed('engine', error.message, null)
    if (!(error instanceof ContainmentUnavailable)) throw error
    const fix = 'Start the engine, and let this account use it: with Docker, add it to the group “docker”.'
    return failed('engine', error.message, fix)
  }
}

interface Seen {
  readonly output: ReadonlyMap<string, string>
  readonly agents: readonly string[]
  /** Why Copse could not be asked at all; null if it could. */
  readonly unasked: string | null
}

/** Says what there is, one `NAME=VALUE` a line. Each part stands alone. */
const script = (file: string, url: string | null): string => `echo "git=$(git --version 2>/dev/null)"
echo "user=$(id -u):$(id -g)"
touch ${quoted([file])} 2>/dev/null && echo "written=yes"
for agent in "$@"; do command -v -- "$agent" >/dev/null 2>&1 && echo "agent=$agent"; done
${url === null ? '' : asking(url)}true`

/** Asks Copse by what the image has; a shell alone can't. */
function asking(url: string): string {
  const health = new URL('/healthz', url).href
  return `export COPSE_HEALTH=${quoted([health])}
asker=$(command -v curl || command -v wget || command -v node || command -v python3)
case "$asker" in
*/curl) "$asker" -fsS -k --max-time 10 "$COPSE_HEALTH" >/dev/null 2>&1 && echo reached=yes ;;
*/wget) "$asker" -q -T 10 -O /dev/null "$COPSE_HEALTH" 2>/dev/null && echo reached=yes ;;
*/node) "$asker" -e 'fetch(process.env.COPSE_HEALTH).then((r) => r.ok && console.log("reached=yes"))' 2>/dev/null ;;
*/python3) "$asker" -c 'import os, urllib.request as u; u.urlopen(os.environ["COPSE_HEALTH"], timeout=10); print("reached=yes")' 2>/dev/null ;;
*) echo reached=unknown ;;
esac
`
}

interface Start extends RunnerCheckOptions, Engine {
  readonly folder: string
}

async function startOne(config: ContainerConfig, start: Start): Promise<Seen | RunnerCheck> {
  const { client, user, folder, dataDir, apiUrl, agents, signal } = start
  const socat = await copySocat(join(dataDir, 'runners', 'socat'), { signal })
  const api = apiUrl === null || socat === null ? null : new URL(apiUrl)
  const [host, port] = api === null ? ['', 0] : addressOf(api)
  const forwarders = api === null ? [] : [await forwardPort({ folder, processMarker: '' }, [host], port)]
  try {
    const args = containerArgs(
      { user, tools: null },
      {
        runner: { id: 'check', name: 'check', config },
        installation: installationOf(dataDir),
        job: 'check',
        network: config.network,
        cwd: folder,
        mounts: [
          { from: folder, to: folder, writable: true },
          ...(socat === null ? [] : [{ from: socat.folder, to: socat.folder, writable: false }]),
        ],
        env: { HOME: folder },
      },
    )
    const inside = `${listeningScript(forwarders, socat?.command)}${script(join(folder, 'written'), apiUrl)}`
    const words = [...args, '/bin/sh', config.image ?? '', '-c', inside, 'sh', ...agents]
    const answer = await askEngine(client, words, { signal })
    if (answer.exit_code !== 0)
      return failed('start', `A container could not be started: ${lastWords(answer)}`, fixOf(answer))
    const lines = answer.stdout.split('\n').map((line) => line.split(/=(.*)/s))
    return {
      output: new Map(lines.map(([name = '', value = '']) => [name, value])),
      agents: lines.flatMap(([name, value = '']) => (name === 'agent' ? [value] : [])),
      unasked: apiUrl === null ? 'Copse does not listen yet.' : socat === null ? noSocat : null,
    }
  } finally {
    await Promise.all(forwarders.map((forwarder) => forwarder[Symbol.asyncDispose]()))
  }
}

function fixOf({ stderr }: EngineAnswer): string {
  if (/\/bin\/sh|executable file|no such file/i.test(stderr)) return 'Use an image that has a shell at /bin/sh.'
  if (/memory|cpu|cgroup|pids/i.test(stderr))
    return 'Remove the limits of memory and processors, which this machine can’t hold.'
  return 'Start a container of this image by hand to see what the engine says, then check again.'
}

function hostsStep({ hostsProblem }: Pick<RunnerCheckOptions, 'hostsProblem'>): RunnerCheck {
  return hostsProblem === null
    ? passed('hosts', 'Containers have no way out but the proxy, which lets them to the allowed hosts.')
    : failed('hosts', hostsProblem, 'Install what is missing, or choose the network “open” or “none”.')
}

async function readSteps({ output, agents, unasked }: Seen, folder: string): Promise<readonly RunnerCheck[]> {
  const git = output.get('git') ?? ''
  const reached = output.get('reached')
  const copse = ((): RunnerCheck => {
    if (unasked !== null) return failed('copse', unasked, 'Install socat on this machine, then check again.')
    if (reached === 'yes') return passed('copse', 'A container reaches Copse.')
    const tool = 'The image has no program to ask Copse with, so this was not checked.'
    if (reached === 'unknown') return passed('copse', tool)
    return failed(
      'copse',
      'A container doesn’t reach Copse.',
      'Let Copse listen on 127.0.0.1, or choose another network.',
    )
  })()
  return [
    git === ''
      ? failed('git', 'The image has no git.', 'Install git in the image: agents commit with it.')
      : passed('git', `The image has ${git}.`),
    await ownerStep(folder, output.get('user') ?? ''),
    await roomStep(folder),
    copse,
    agents.length === 0
      ? // A shell command needs none, so that it is no reason to run nothing here.
        passed('agents', 'None of your agents was found in the image. One that is a shell command runs anyway.')
      : passed('agents', `The image has ${agents.join(', ')}.`),
  ]
}

/** Whether what a container writes belongs to this service's user. */
async function ownerStep(folder: string, user: string): Promise<RunnerCheck> {
  const own = process.getuid?.() ?? 0
  const written = await stat(join(folder, 'written')).catch(() => null)
  if (written?.uid === own) return passed('file owner', `Files that a container writes are yours (it runs as ${user}).`)
  const message =
    written === null
      ? 'A container can’t write in a folder of yours.'
      : `Files that a container writes belong to ${written.uid}, not to you.`
  return failed(
    'file owner',
    message,
    'Turn off the engine’s own mapping of users (userns-remap), or use rootless podman.',
  )
}

/** What each project's dev container has is known once a run starts in it. */
async function devStep({ signal }: Cancellable): Promise<RunnerCheck> {
  const env = { PATH: process.env['PATH'] ?? '' }
  const answer = await runCli(['--version'], { env, limitMs: 30_000, signal })
  if (answer.exit_code === 0)
    return passed(
      'dev containers',
      `Each project’s dev container is built by @devcontainers/cli ${answer.stdout.trim()}.`,
    )
  return failed('dev containers', `@devcontainers/cli doesn’t start: ${lastWords(answer)}`, 'Install Copse again.')
}

async function roomStep(folder: string): Promise<RunnerCheck> {
  const { bavail, bsize } = await statfs(folder)
  const room = bavail * bsize
  const text = `${(room / 1024 ** 3).toFixed(1)} GB are free`
  return room >= leastRoomBytes
    ? passed('disk', `${text}.`)
    : failed('disk', `Only ${text}.`, 'Free some space: runs write into their worktrees here.')
}
