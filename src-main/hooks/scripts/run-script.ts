import { performance } from 'node:perf_hooks'
import { settleOrAbort } from '../../platform/locks/settle-or-abort.ts'
import { childEnvironment } from '../../platform/process/process-environment.ts'
import { ProcessStartError, killByMarker, spawnTree } from '../../platform/process/process.ts'
import type { ProcessTree } from '../../platform/process/process.ts'
import { deniedNote } from '../../domain/access/containment.ts'
import { ContainmentUnavailable, type ContainedBox, type Containment, type Denial } from '../../ports/containment.ts'
import type { ScriptResult, ScriptRun, Scripts } from '../../ports/scripts.ts'
import { findCommand } from './script-command.ts'
import { createScriptOutput } from './script-output.ts'
import type { ScriptOutput } from './script-output.ts'

/** Exit codes as shells use them. */
const timedOutCode = 124
const cancelledCode = 130
const notStartedCode = 126
/** The maximum of `setTimeout`: 24 days. */
const maxTimerMs = 2_147_483_647

export interface ScriptsOptions {
  /** How long a script may take to end after SIGTERM; then SIGKILL. */
  readonly graceMs?: number
  /** Without it no script is contained. */
  readonly containment?: Pick<Containment, 'box'> | undefined
}

/** Runs shell commands and executables for CI steps, set-up and hooks. The log stays open: it is the caller's. */
export function createScripts({ graceMs = 10_000, containment }: ScriptsOptions = {}): Scripts {
  return {
    run: async (script, { signal }) => {
      const started = performance.now()
      const output = createScriptOutput(script)
      try {
        const { exit_code, timed_out = false } = await perform(script, output, { graceMs, containment }, signal)
        const duration_ms = Math.round(performance.now() - started)
        return { exit_code, timed_out, duration_ms, output_tail: output.tail() }
      } finally {
        output.close()
      }
    },
    reap: (mark) => killByMarker(mark),
  }
}

type Ending = Pick<ScriptResult, 'exit_code'> & Partial<Pick<ScriptResult, 'timed_out'>>

async function perform(
  script: ScriptRun,
  output: ScriptOutput,
  { graceMs, containment }: Pick<ScriptsOptions, 'containment'> & { readonly graceMs: number },
  signal: AbortSignal,
): Promise<Ending> {
  if (signal.aborted) return { exit_code: cancelledCode }
  const denied = new Map<string, Denial>()
  const boxing = boxFor(script, containment, (denial) => denied.set(`${denial.what} ${denial.target}`, denial))
  // An image can take long to build. The next script finds it.
  await settleOrAbort(boxing, signal)
  if (signal.aborted) return { exit_code: cancelledCode }
  const boxed = await boxing
  if (boxed !== null && 'problem' in boxed) {
    await failToStart(output, boxed.problem)
    return { exit_code: notStartedCode }
  }
  const tree = await start(script, output, boxed)
  if (tree === null) return { exit_code: notStartedCode }
  const ending = await supervise(script, tree, output, graceMs, signal)
  boxed?.onOutput(output.tail())
  const note = deniedNote([...denied.values()])
  if (note !== null) await output.note(`\n${note}\n`)
  return ending
}

async function boxFor(
  { containment: rules, cwd, env }: ScriptRun,
  containment: ScriptsOptions['containment'],
  onDenied: (denial: Denial) => void,
): Promise<ContainedBox | { readonly problem: string } | null> {
  try {
    return (rules && (await containment?.box({ ...rules, cwd, onDenied, variables: Object.keys(env) }))) ?? null
  } catch (error) {
    if (!(error instanceof ContainmentUnavailable)) throw error
    return { problem: error.message }
  }
}

async function supervise(
  script: ScriptRun,
  tree: ProcessTree,
  output: ScriptOutput,
  graceMs: number,
  signal: AbortSignal,
): Promise<Ending> {
  let stopped: 'timed_out' | 'cancelled' | undefined
  const stop = (reason: typeof stopped): void => {
    stopped ??= reason
    void tree.stop({ graceMs })
  }
  const cancel = (): void => stop('cancelled')
  const timer = setTimeout(() => stop('timed_out'), Math.min(script.timeout_ms, maxTimerMs))
  signal.addEventListener('abort', cancel, { once: true })
  if (signal.aborted) cancel()
  // If the script ended by itself before the limit, its exit code counts, even if leftover processes were ended after
  // it.
  void tree.exited.then(() => {
    clearTimeout(timer)
    signal.removeEventListener('abort', cancel)
  })
  const outputs = await Promise.allSettled([
    output.collect('stdout', tree.stdout),
    output.collect('stderr', tree.stderr),
    tree.ended,
  ])
  // Throw only when no process of the tree is left: the caller may remove the worktree after a failure.
  for (const one of outputs) if (one.status === 'rejected') throw one.reason
  const { exit_code } = await tree.ended
  if (stopped === 'timed_out') {
    await output.note(`\nStopped: it ran longer than ${script.timeout_ms / 1000} s.\n`)
    return { exit_code: timedOutCode, timed_out: true }
  }
  return { exit_code: stopped === 'cancelled' ? cancelledCode : exit_code }
}

/** Returns null, with a note in the output, when the script can't be started (its directory is gone). */
async function start(script: ScriptRun, output: ScriptOutput, box: ContainedBox | null): Promise<ProcessTree | null> {
  const { cwd, processMarker } = script
  const command = await findCommand(script.command, cwd)
  if ('problem' in command) return await failToStart(output, command.problem)
  const { file, args, verbatimArguments } = command
  try {
    const env = childEnvironment(script.env)
    const place = { cwd, env, box: box ?? undefined, stdin: 'ignore', verbatimArguments } as const
    return await spawnTree(file, args, processMarker === undefined ? place : { ...place, processMarker })
  } catch (error) {
    if (!(error instanceof ProcessStartError)) throw error
    return await failToStart(output, error.message)
  }
}

async function failToStart(output: ScriptOutput, why: string): Promise<null> {
  await output.note(`Could not be started: ${why}\n`)
  return null
}
