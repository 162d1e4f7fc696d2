import type { Writable } from 'node:stream'
import { ProcessStartError, spawnTree } from '../base/process.ts'
import type { ProcessTree } from '../base/process.ts'
import { ExecutorError } from '../engine/ports.ts'
import type { Clock, ExecutionRun, RunningExecution } from '../engine/ports.ts'
import type { ExecutorProfileDriver } from './executor.ts'
import { buildCommandLine } from './claude-code/command-line.ts'
import { detectClaudeCode } from './claude-code/detect.ts'
import { claudeEnvironment, isRootUser } from './claude-code/environment.ts'
import { findBinary, installHint } from './claude-code/find-binary.ts'
import { writeMcpConfig } from './claude-code/mcp-config.ts'
import { superviseRun } from './claude-code/supervise.ts'

export interface ClaudeCodeOptions {
  /** The system's by default. */
  readonly clock?: Clock
  /** The person's environment; this process's own by default. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** How long it may take to exit after its last turn before it is made to, in ms. */
  readonly exitGraceMs?: number
}

/**
 * Claude Code, headless: stream-json both ways, the prompt over stdin. Its turn's end closes its
 * stdin, upon which it exits.
 */
export function createClaudeCodeDriver(options: ClaudeCodeOptions = {}): ExecutorProfileDriver {
  const { clock = systemClock, env = process.env, exitGraceMs = 30_000 } = options
  return {
    name: 'claude-code',
    hosting: 'here',
    start: async (run, { signal }) => {
      try {
        return await startClaudeCode(run, { clock, env, exitGraceMs, signal })
      } catch (error) {
        await run.log.close()
        throw error
      }
    },
    detect: (cancellable) => detectClaudeCode(env, cancellable),
  }
}

type StartOptions = Required<ClaudeCodeOptions> & { readonly signal: AbortSignal }

async function startClaudeCode(run: ExecutionRun, options: StartOptions): Promise<RunningExecution> {
  const { clock, exitGraceMs, signal } = options
  signal.throwIfAborted()
  const { config } = run
  const command = config.command?.trim() || null
  const env = claudeEnvironment(config.env ?? {}, run.env, options.env, isRootUser())
  const path = findBinary(command, env)
  if (path === null) throw notInstalled(command)

  await using resources = new AsyncDisposableStack()
  const mcp = run.mcp === null ? null : resources.use(await writeMcpConfig(run.mcp))
  const { args, refused } = buildCommandLine({
    model: config.model ?? null,
    session_id: run.session_id,
    mcp_config: mcp?.path ?? null,
    args: config.args ?? [],
  })
  if (refused.length > 0) {
    const text = `Left out of the agent's arguments, because they are not its to set: ${refused.join(' ')}`
    run.log.entry({ type: 'error', at: new Date(clock.now()).toISOString(), text })
  }
  signal.throwIfAborted()
  const tree = await spawnClaude(path, args, { cwd: run.cwd, env })
  if (signal.aborted) {
    await tree.stop({ graceMs: 0 })
    signal.throwIfAborted()
  }
  return superviseRun({ run, tree, clock, exitGraceMs, resources: resources.move() })
}

async function spawnClaude(
  path: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<ProcessTree & { readonly stdin: Writable }> {
  try {
    const tree = await spawnTree(path, args, { ...options, stdin: 'pipe' })
    const { stdin } = tree
    if (stdin === null) throw new TypeError('a tree spawned with a pipe has a stdin')
    return { ...tree, stdin }
  } catch (error) {
    if (!(error instanceof ProcessStartError)) throw error
    throw new ExecutorError('spawn_failed', `Claude Code could not be started: ${error.message}`, { cause: error })
  }
}

const systemClock: Clock = { now: () => Date.now() }

const notInstalled = (command: string | null): ExecutorError =>
  new ExecutorError(
    'not_installed',
    command === null
      ? `Claude Code was not found. ${installHint}`
      : `Claude Code was not found at ${command}, the agent's configured command.`,
  )
