import type { Duplex } from 'node:stream'
import { ContainmentStatus } from '../../../src-shared/contract/containment.ts'
import type { JobId, RunnerId } from '../../../src-shared/contract/ids.ts'
import type { RunnerCheckStep, SshConfig } from '../../../src-shared/contract/runners.ts'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import type { Logger } from '../../platform/logging/log.ts'
import { ProcessStartError } from '../../platform/process/process.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import type { RunnerTokens } from '../../ports/runner-tokens.ts'
import type { CarriedJob } from '../remote/start-job.ts'
import type { CarriedPorts } from '../remote/carried-ports.ts'
import { carryLink, readProgram } from '../remote/carry-link.ts'
import { checkStep, containmentStep, probeScript, readProbe } from '../remote/probe.ts'
import { chooseNode, findOwnNode, kindOf, noNode, type OwnNode } from './own-node.ts'
import { inFolder, runSsh, sshFailed, startSsh, type SshAnswer, type SshTarget } from './ssh-command.ts'

export interface SshRunnerParts {
  readonly runner_id: RunnerId
  readonly config: SshConfig
  /** The program that is brought there. */
  readonly program: string
  readonly jobs: Pick<Jobs, 'unreached'>
  readonly tokens: Pick<RunnerTokens, 'make'>
  readonly noteContainment: (runner_id: RunnerId, status: ContainmentStatus) => void
  /** Takes the connections of the runner and of what it runs. */
  readonly onConnection: (connection: Duplex, runner_id: RunnerId) => void
  readonly ports: Pick<CarriedPorts, 'ofLink'>
  /** Called whenever the runner there is connected. */
  readonly onReached: () => void
  readonly log: Logger
}

/** The link to a runner over SSH, which is kept up. */
export interface SshRunner {
  /** Looks at all that a run needs there, and brings the program. `agents`: the programs that are looked for. */
  check(options: Cancellable & { readonly agents: readonly string[] }): Promise<readonly RunnerCheckStep[]>
  /** Connects if it isn't, and again whenever the connection breaks. */
  keep(): void
  /** Has a job reach the runner; a run that can't is queued again. */
  carry(job: Omit<CarriedJob, 'ended'>): void
  /** Ends the link; the runner there works on. */
  close(): Promise<void>
  /** Ends the runner there, with all that it runs. */
  end(options: Cancellable): Promise<void>
}

const [firstPauseMs, maxPauseMs] = [1_000, 30_000] as const
/** So many connections in a row can fail before runs that wait for one are queued again. */
const maxFailed = 2

export function createSshRunner(parts: SshRunnerParts): SshRunner {
  const { runner_id, config, log } = parts
  const target: SshTarget = { config, folder: `${config.folder ?? '.copse-runner'}/${runner_id}` }
  const closing = new AbortController()
  let keeping: Promise<void> | null = null
  let wake = Promise.withResolvers<void>()
  /** The runs that no runner has taken yet. */
  const waiting = new Set<JobId>()

  const own = findOwnNode()
  const there = (script: string): string => `${inFolder(target.folder)}\n${script}`
  const withNode = (script: string): string => there(`${chooseNode(own)}\n${script}`)
  const bringNode = async (uname: string, { signal }: Cancellable): Promise<void> => {
    const kind = kindOf(uname)
    if (own === null || own.kind !== kind) throw new SshError(noNode(own, kind))
    const { name } = own
    const script = `gzip -dc > ${name}.new && chmod 700 ${name}.new && ./${name}.new --version && mv ${name}.new ${name}`
    const answer = await runSsh(target, there(script), { signal, input: await own.read() })
    if (answer.exit_code !== 0) throw new SshError(`${lastLine(answer.stderr)} ${noNode(own, kind)}`.trimStart())
  }
  /** Brings the program, and Node where there is none for it. */
  const bring = async ({ signal }: Cancellable): Promise<string> => {
    const { name, bytes } = await readProgram(parts.program)
    const look = `[ -s ${name} ] && echo copse-program; "$node" --version >/dev/null 2>&1 || echo "copse-node $(uname -s -m)"`
    const seen = await runSsh(target, withNode(look), { signal })
    refuseFailure(seen)
    const [, uname] = /^copse-node (.*)$/m.exec(seen.stdout) ?? []
    if (uname !== undefined) await bringNode(uname, { signal })
    if (seen.stdout.includes('copse-program')) return name
    const script = `cat > ${name}.new && mv ${name}.new ${name}`
    refuseFailure(await runSsh(target, there(script), { signal, input: bytes }))
    return name
  }
  const connect = async (): Promise<void> => {
    const name = await bring({ signal: closing.signal })
    const tree = await startSsh(target, withNode(`exec "$node" ${name} link "$PWD"`))
    await carryLink(
      { ...tree, close: async () => void (await tree.stop({ graceMs: 1_000 })) },
      {
        ...parts,
        signal: closing.signal,
        onLinked: () => {
          log.info({ runner_id }, 'a runner is connected')
          parts.onReached()
        },
      },
    )
  }
  const keepConnected = async (): Promise<void> => {
    let pause: number = firstPauseMs
    let failed = 0
    while (!closing.signal.aborted) {
      const since = performance.now()
      const error: unknown = await connect().then(
        () => null,
        (reason: unknown) => reason,
      )
      if (closing.signal.aborted) return
      failed = error === null ? 0 : failed + 1
      if (error !== null) log.info({ err: error, runner_id }, 'a runner can’t be reached')
      if (failed >= maxFailed) {
        const why = sentence(error instanceof Error ? error.message : '', config.host)
        for (const id of waiting) parts.jobs.unreached(id, why)
      }
      pause = performance.now() - since > maxPauseMs ? firstPauseMs : Math.min(2 * pause, maxPauseMs)
      const timer = setTimeout(() => wake.resolve(), pause)
      await wake.promise
      clearTimeout(timer)
      wake = Promise.withResolvers()
    }
  }
  const keep = (): void => {
    keeping ??= keepConnected()
    wake.resolve()
  }
  return {
    keep,
    carry: ({ id, kind, taken, isHeld }) => {
      keep()
      if (kind !== 'run' || isHeld) return
      waiting.add(id)
      void taken.then(() => waiting.delete(id))
    },
    close: async () => {
      closing.abort(new Error('The service ends.'))
      wake.resolve()
      await keeping
    },
    end: async ({ signal }) => {
      const name = await bring({ signal })
      await runSsh(target, withNode(`exec "$node" ${name} end "$PWD"`), { signal })
    },
    check: async ({ signal, agents }) => {
      const answer = await runSsh(target, withNode(probeScript(agents, '"$node"')), { signal }).catch(
        (error: unknown) => {
          if (error instanceof ProcessStartError) return null
          throw error
        },
      )
      if (answer === null)
        return [checkStep('reach', false, 'There is no ssh on this machine.', 'Install OpenSSH’s client.')]
      const steps = stepsOf(answer, config, own)
      if (steps.some(({ ok }) => !ok)) return steps
      let isThere = false
      try {
        const name = await bring({ signal })
        isThere = true
        // One that does not work is brought again.
        const ask = `"$node" ${name} containment "$PWD" || { code=$?; rm -f ${name}; exit $code; }`
        const asked = await runSsh(target, withNode(ask), { signal })
        refuseFailure(asked)
        const status = ContainmentStatus.parse(parseJson(lastLine(asked.stdout)))
        parts.noteContainment(runner_id, status)
        return [...steps, checkStep('program', true, 'The runner’s program is there.'), containmentStep(status)]
      } catch (error) {
        signal.throwIfAborted()
        const message = error instanceof Error ? error.message : String(error)
        const isReached = error instanceof SshError && error.exit_code !== sshFailed
        const said = ended(message)
        const step = isThere
          ? checkStep('program', false, `The runner’s program doesn’t work there: ${said}`, 'Check again.')
          : checkStep(
              'program',
              false,
              `The runner’s program can’t be brought there: ${said}`,
              isReached ? 'Make its folder writable.' : fixOf(message, config),
            )
        return [...steps, step]
      }
    },
  }
}

class SshError extends Error {
  override readonly name = 'SshError'
  readonly exit_code: number | null

  /** `exit_code`: of ssh, if it ended; a command that ssh carried ends with any other than its own 255. */
  constructor(message: string, exit_code: number | null = null) {
    super(message)
    this.exit_code = exit_code
  }
}

function refuseFailure({ exit_code, stderr, stdout }: SshAnswer, alsoFine = 0): void {
  if (exit_code === 0 || exit_code === alsoFine) return
  throw new SshError(lastLine(stderr) || lastLine(stdout) || `ssh ended with ${exit_code ?? 'a signal'}.`, exit_code)
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? ''

function stepsOf(
  { exit_code, stdout, stderr }: SshAnswer,
  config: SshConfig,
  own: OwnNode | null,
): readonly RunnerCheckStep[] {
  const { host } = config
  const found = readProbe(stdout, (uname) => {
    const kind = kindOf(uname)
    return { version: own?.kind === kind ? own.version : null, fix: noNode(own, kind) }
  })
  if (exit_code === sshFailed && found === null)
    return [checkStep('reach', false, sentence(stderr, host), fixOf(stderr, config))]
  if (found === null) {
    const message = `${host} answers, but runs no shell: ${lastLine(stdout) || lastLine(stderr)}`
    return [checkStep('reach', false, message, 'Give the account a shell, and room in its home.')]
  }
  return [checkStep('reach', true, `${host} answers; its folder is ${found.folder}.`), ...found.steps]
}

const sentence = (stderr: string, host: string): string =>
  `${host} can’t be reached: ${ended(lastLine(stderr) || 'ssh gave no reason')}`

const ended = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`)

/** Returns what to do about what ssh says. */
function fixOf(stderr: string, { host, port, ssh_config }: SshConfig): string {
  const file = ssh_config === undefined ? '' : `-F ${ssh_config} `
  const ssh = `ssh ${file}${port === undefined ? '' : `-p ${port} `}${host}`
  if (/host key verification failed|no .* host key is known/i.test(stderr))
    return `Run “${ssh}” once in a terminal, compare the key with that of the machine, and accept it.`
  if (/permission denied/i.test(stderr))
    return 'Load your key into ssh-agent, or add it to authorized_keys there. Copse can’t answer a prompt.'
  if (/could not resolve|name or service not known/i.test(stderr))
    return 'Check the name, or add it to your ssh configuration.'
  if (/bad configuration|can't open user config/i.test(stderr)) return 'Mend the ssh configuration.'
  return `Try “${ssh}” in a terminal.`
}
