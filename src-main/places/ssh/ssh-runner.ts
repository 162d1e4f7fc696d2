import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Duplex } from 'node:stream'
import type { RunnerId } from '../../../src-shared/contract/ids.ts'
import { jobProtocol } from '../../../src-shared/contract/jobs.ts'
import type { RunnerCheckStep, SshConfig } from '../../../src-shared/contract/runners.ts'
import { acceptLink } from '../../platform/link/link.ts'
import { linkMark, NoLink, startCarrier } from '../../platform/link/marked-start.ts'
import type { Logger } from '../../platform/logging/log.ts'
import { ProcessStartError } from '../../platform/process/process.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import type { RunnerTokens } from '../../ports/runner-tokens.ts'
import { inFolder, quoted, runSsh, sshFailed, startSsh, type SshAnswer, type SshTarget } from './ssh-command.ts'

export interface SshRunnerParts {
  readonly runner_id: RunnerId
  readonly config: SshConfig
  /** The program that is brought there. */
  readonly program: string
  readonly tokens: Pick<RunnerTokens, 'make'>
  /** Takes the connections of the runner and of what it runs. */
  readonly onConnection: (connection: Duplex, runner_id: RunnerId) => void
  readonly log: Logger
}

/** The link to a runner over SSH, which is kept up. */
export interface SshRunner {
  /** Looks at all that a run needs there, and brings the program. `agents`: the programs that are looked for. */
  check(options: Cancellable & { readonly agents: readonly string[] }): Promise<readonly RunnerCheckStep[]>
  /** Connects if it isn't, and again whenever the connection breaks. */
  keep(): void
  /** Ends the link; the runner there works on. */
  close(): Promise<void>
  /** Ends the runner there, with all that it runs. */
  end(options: Cancellable): Promise<void>
}

/** With an older one HTTP/2 makes no client of a socket that was read from. */
const minNode = 24
const minFreeMb = 1_024
const maxSkewSeconds = 300
const [firstPauseMs, maxPauseMs] = [1_000, 30_000] as const

export function createSshRunner(parts: SshRunnerParts): SshRunner {
  const { runner_id, config, log } = parts
  const target: SshTarget = { config, folder: `${config.folder ?? '.copse-runner'}/${runner_id}` }
  const closing = new AbortController()
  let keeping: Promise<void> | null = null
  let wake = Promise.withResolvers<void>()

  const bring = async ({ signal }: Cancellable): Promise<string> => {
    const bytes = await readFile(parts.program)
    const name = `runner-${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}.mjs`
    const there = await runSsh(target, `${inFolder(target.folder)}\n[ -s ${name} ] && echo there`, { signal })
    if (there.stdout.includes('there')) return name
    refuseFailure(there, 1)
    const script = `${inFolder(target.folder)}\ncat > ${name}.new && mv ${name}.new ${name}`
    refuseFailure(await runSsh(target, script, { signal, input: bytes }))
    return name
  }
  const connect = async (): Promise<void> => {
    const name = await bring({ signal: closing.signal })
    const tree = await startSsh(target, `${inFolder(target.folder)}\nexec node ${name} link "$PWD"`)
    const { token, end } = parts.tokens.make(runner_id)
    const stop = (): void => void tree.stop({ graceMs: 1_000 })
    closing.signal.addEventListener('abort', stop, { once: true })
    let said = ''
    tree.stderr.setEncoding('utf8').on('data', (chunk: string) => (said = (said + chunk).slice(-2_000)))
    try {
      const carrier = await startCarrier(tree.stdout, tree.stdin, linkMark(jobProtocol), JSON.stringify({ token }))
      const link = acceptLink(carrier, (connection) => parts.onConnection(connection, runner_id))
      log.info({ runner_id }, 'a runner is connected')
      await link.closed
    } catch (error) {
      if (error instanceof NoLink) throw new SshError(said.trim() || error.message || 'The connection ended at once.')
      throw error
    } finally {
      end()
      closing.signal.removeEventListener('abort', stop)
      await tree.stop({ graceMs: 1_000 })
    }
  }
  const keepConnected = async (): Promise<void> => {
    let pause: number = firstPauseMs
    while (!closing.signal.aborted) {
      const since = performance.now()
      await connect().catch((error: unknown) => log.info({ err: error, runner_id }, 'a runner can’t be reached'))
      if (closing.signal.aborted) return
      pause = performance.now() - since > maxPauseMs ? firstPauseMs : Math.min(2 * pause, maxPauseMs)
      const timer = setTimeout(() => wake.resolve(), pause)
      await wake.promise
      clearTimeout(timer)
      wake = Promise.withResolvers()
    }
  }
  return {
    keep: () => {
      keeping ??= keepConnected()
      wake.resolve()
    },
    close: async () => {
      closing.abort(new Error('The service ends.'))
      wake.resolve()
      await keeping
    },
    end: async ({ signal }) => {
      const name = await bring({ signal })
      await runSsh(target, `${inFolder(target.folder)}\nexec node ${name} end "$PWD"`, { signal })
    },
    check: async ({ signal, agents }) => {
      const answer = await runSsh(target, probeScript(target.folder, agents), { signal }).catch((error: unknown) => {
        if (error instanceof ProcessStartError) return null
        throw error
      })
      if (answer === null)
        return [step('reach', false, 'There is no ssh on this machine.', 'Install OpenSSH’s client.')]
      const steps = stepsOf(answer, config)
      if (steps.some(({ ok }) => !ok)) return steps
      try {
        await bring({ signal })
        return [...steps, step('program', true, 'The runner’s program is there.')]
      } catch (error) {
        signal.throwIfAborted()
        const message = error instanceof Error ? error.message : String(error)
        return [
          ...steps,
          step(
            'program',
            false,
            `The runner’s program can’t be brought there: ${message}`,
            'Make its folder writable.',
          ),
        ]
      }
    },
  }
}

class SshError extends Error {
  override readonly name = 'SshError'
}

function refuseFailure({ exit_code, stderr, stdout }: SshAnswer, alsoFine = 0): void {
  if (exit_code === 0 || exit_code === alsoFine) return
  throw new SshError(lastLine(stderr) || lastLine(stdout) || `ssh ended with ${exit_code ?? 'a signal'}.`)
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? ''

function step(name: string, ok: boolean, message: string, fix: string | null = null): RunnerCheckStep {
  return { name, ok, message, fix }
}

/** Says what is there, a line each, after a mark: the shell there may greet. */
const probeScript = (folder: string, agents: readonly string[]): string => `${inFolder(folder)}
echo; echo copse-probe
echo "git=$(git --version 2>/dev/null)"
echo "node=$(node --version 2>/dev/null)"
echo "free=$(df -Pk . 2>/dev/null | tail -1 | awk '{print $4}')"
echo "clock=$(date +%s)"
echo "folder=$PWD"
for agent in '' ${agents.map(quoted).join(' ')}; do [ -n "$agent" ] && command -v "$agent" >/dev/null && echo "agent=$agent"; done
exit 0`

function stepsOf({ exit_code, stdout, stderr }: SshAnswer, { host }: SshConfig): readonly RunnerCheckStep[] {
  const at = stdout.indexOf('\ncopse-probe\n')
  if (exit_code === sshFailed && at === -1) return [step('reach', false, sentence(stderr, host), fixOf(stderr, host))]
  if (at === -1)
    return [
      step(
        'reach',
        false,
        `${host} answers, but runs no shell: ${lastLine(stdout) || lastLine(stderr)}`,
        'Give the account a shell, and room in its home.',
      ),
    ]
  const lines = stdout.slice(at).split('\n')
  const read = (name: string): string => lines.find((line) => line.startsWith(`${name}=`))?.slice(name.length + 1) ?? ''
  const git = /\d+\.\d+[\d.]*/.exec(read('git'))?.[0]
  const node = /^v(\d+)/.exec(read('node'))
  const free = Math.floor(Number(read('free')) / 1_024)
  const skew = Math.round(Number(read('clock')) - Date.now() / 1_000)
  const agents = lines.filter((line) => line.startsWith('agent=')).map((line) => line.slice('agent='.length))
  return [
    step('reach', true, `${host} answers; its folder is ${read('folder')}.`),
    git === undefined
      ? step('git', false, 'Git is not installed there.', 'Install git, version 2.28 or newer.')
      : step('git', true, `Git ${git}.`),
    node !== null && Number(node[1]) >= minNode
      ? step('node', true, `Node ${read('node').slice(1)}.`)
      : step(
          'node',
          false,
          node ? `Node ${read('node').slice(1)} is too old.` : 'Node is not installed there, or not in PATH.',
          `Install Node ${minNode} or newer there.`,
        ),
    free >= minFreeMb
      ? step('disk', true, `${Math.floor(free / 1_024)} GB free.`)
      : step('disk', false, `Only ${free} MB are free there.`, 'Make room, or choose another folder.'),
    Math.abs(skew) <= maxSkewSeconds
      ? step('clock', true, 'Its clock is right.')
      : // Only the service's clock counts.
        step('clock', true, `Its clock is off by ${Math.abs(skew)} seconds. Times in its files differ.`),
    agents.length > 0
      ? step('agents', true, `Found ${agents.join(', ')}.`)
      : step(
          'agents',
          true,
          'No agent that this machine has is in PATH there. An agent with a command of its own runs anyway.',
        ),
  ]
}

const sentence = (stderr: string, host: string): string =>
  `${host} can’t be reached: ${lastLine(stderr) || 'ssh gave no reason.'}`

/** Returns what to do about what ssh says. */
function fixOf(stderr: string, host: string): string {
  if (/host key verification failed|no .* host key is known/i.test(stderr))
    return `Run “ssh ${host}” once in a terminal, compare the key with that of the machine, and accept it.`
  if (/permission denied/i.test(stderr))
    return 'Load your key into ssh-agent, or add it to authorized_keys there. Copse can’t answer a prompt.'
  if (/could not resolve|name or service not known/i.test(stderr))
    return 'Check the name, or add it to your ssh configuration.'
  if (/bad configuration|can't open user config/i.test(stderr)) return 'Mend the ssh configuration.'
  return `Try “ssh ${host}” in a terminal.`
}
