import { executorInfos } from '../../../src-shared/contract/executor-profiles.ts'
import type { Writable } from 'node:stream'
import { policyOf } from '../../domain/access/permissions.ts'
import { shellCommand } from '../../platform/process/process-shell.ts'
import { ProcessStartError, spawnTree } from '../../platform/process/process.ts'
import type { ProcessTree, SpawnTreeOptions } from '../../platform/process/process.ts'
import { ExecutorError } from '../../ports/executors.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import type { Clock } from '../../ports/clock.ts'
import type { RunningExecution } from '../../ports/executors.ts'
import type { AgentRun } from '../definition.ts'
import type { ArgsConfig, ExecutorDefinition } from '../definition.ts'
import { agentEnvironment } from './agent-environment.ts'
import type { AgentProfile, AgentProgram, Variables } from './agent-profile.ts'
import { detectAgent } from './detect-agent.ts'
import { filterArgs, type FilteredArgs } from './filter-args.ts'
import { findProgram } from './find-program.ts'
import { superviseRun } from './supervise.ts'

export interface AgentDriverOptions {
  /** The system's by default. */
  readonly clock?: Clock
  /** The person's environment; this process's own by default. */
  readonly env?: Variables
  /** Time limit for the exit after the last turn, in ms; the profile's by default. */
  readonly exitGraceMs?: number
}

/** The program to start, and how. */
interface SpawnSpec {
  readonly file: string
  readonly args: readonly string[]
  readonly verbatimArguments?: boolean
}

/** Creates the executor of a coding agent that is a program on this machine. */
export function createAgentDriver(profile: AgentProfile, options: AgentDriverOptions = {}): ExecutorDefinition {
  const { program } = profile
  const env = options.env ?? process.env
  return {
    executor: program.executor,
    needs: program.needs,
    configNames: profile.configNames,
    start: (run, { signal }) =>
      startAgent(profile, run, {
        ...options,
        env,
        signal,
        launch: (args, agentEnv) => launchProgram(program, run, args, { env: agentEnv, signal }),
      }),
    refusedArgs: (config) => sortArgs(profile, config).refused,
    detect: (detection) => detectAgent(program, env, detection),
  }
}

/** Sorts a person's arguments into allowed ones and those refused under the agent's configuration. */
export function sortArgs({ refusedArgs, refusedWhenAsking }: AgentProfile, config: ArgsConfig): FilteredArgs {
  const more = policyOf(config) === 'all' ? {} : refusedWhenAsking
  return filterArgs(config.args ?? [], { ...refusedArgs, flags: { ...refusedArgs.flags, ...more } })
}

export interface StartOptions extends AgentDriverOptions {
  readonly env: Variables
  readonly signal: AbortSignal
  /** Throws `ExecutorError` if there is nothing to start. */
  readonly launch: (args: readonly string[], env: Readonly<Record<string, string>>) => SpawnSpec | Promise<SpawnSpec>
}

/** Starts one run of an agent. In every case the log is closed in the end and no process or file is left. */
export async function startAgent(
  profile: AgentProfile,
  run: AgentRun,
  options: StartOptions,
): Promise<RunningExecution> {
  try {
    return await start(profile, run, options)
  } catch (error) {
    await run.log.close()
    throw error
  }
}

async function start(profile: AgentProfile, run: AgentRun, options: StartOptions): Promise<RunningExecution> {
  const { clock = systemClock, exitGraceMs = profile.exitGraceMs, signal, launch } = options
  signal.throwIfAborted()
  // Some programs trust `PWD` more than the system's working directory.
  const env = { ...agentEnvironment(profile, run.config.env ?? {}, run.env, options.env), PWD: run.cwd }
  // Throws before anything is written if there is nothing to start.
  await launch([], env)
  await using resources = new AsyncDisposableStack()
  const own = sortArgs(profile, run.config)
  const warn = (text: string): void => run.log.entry({ type: 'error', at: new Date(clock.now()).toISOString(), text })
  if (own.refused.length > 0) {
    warn(`Ignored arguments, because Copse sets them: ${own.refused.join(' ')}`)
  }
  const { name, effort } = executorInfos[profile.program.executor]
  if (run.config.effort !== undefined && !effort) {
    warn(`${name} has no effort setting; it uses its own default.`)
  }
  const prepared = await profile.prepare(run, own.args, { env, resources })
  signal.throwIfAborted()
  const agentEnv = { ...env, ...prepared.env }
  const tree = await spawnAgent(profile.program, await launch(prepared.args, agentEnv), {
    cwd: run.cwd,
    env: agentEnv,
    box: run.box,
  })
  if (signal.aborted) {
    await tree.stop({ graceMs: 0 })
    signal.throwIfAborted()
  }
  return superviseRun({ run, tree, clock, exitGraceMs, profile, resources: resources.move() })
}

async function launchProgram(
  about: AgentProgram,
  run: AgentRun,
  args: readonly string[],
  { env, signal }: Cancellable & { readonly env: Readonly<Record<string, string>> },
): Promise<SpawnSpec> {
  const command = run.config.command?.trim() || null
  const path = run.programs
    ? await run.programs.find(command ?? about.program, { signal })
    : findProgram(about, command, env)
  if (path === null) throw notInstalled(about, command)
  // npm's shims are batch files on Windows, which only a shell can start.
  return /\.(?:cmd|bat)$/i.test(path) ? shellCommand(`"${path}"`, args) : { file: path, args }
}

async function spawnAgent(
  { executor }: AgentProgram,
  { file, args, verbatimArguments = false }: SpawnSpec,
  place: Pick<SpawnTreeOptions, 'cwd' | 'env' | 'box'>,
): Promise<ProcessTree & { readonly stdin: Writable }> {
  try {
    const tree = await spawnTree(file, args, { ...place, stdin: 'pipe', verbatimArguments })
    const { stdin } = tree
    if (stdin === null) throw new TypeError('a tree spawned with a pipe has a stdin')
    return { ...tree, stdin }
  } catch (error) {
    if (!(error instanceof ProcessStartError)) throw error
    throw new ExecutorError('spawn_failed', `${executorInfos[executor].name} could not be started: ${error.message}`, {
      cause: error,
    })
  }
}

const systemClock: Clock = { now: () => Date.now() }

function notInstalled({ executor, installHint }: AgentProgram, command: string | null): ExecutorError {
  const { name } = executorInfos[executor]
  return new ExecutorError(
    'not_installed',
    command === null
      ? `${name} was not found. ${installHint}`
      : `${name} was not found at ${command}, the agent's configured command.`,
  )
}
