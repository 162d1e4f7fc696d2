import { performance } from 'node:perf_hooks'
import type { Readable } from 'node:stream'
import { createLineHold } from '../base/line-hold.ts'
import { createOutputTail } from '../base/output-tail.ts'
import type { OutputTail } from '../base/output-tail.ts'
import { childEnvironment } from '../base/process-environment.ts'
import { shellCommand } from '../base/process-shell.ts'
import { ProcessStartError, reapMarked, spawnTree } from '../base/process.ts'
import type { ProcessTree } from '../base/process.ts'
import type { LogWriter, ScriptResult, ScriptRun, Scripts } from '../engine/ports.ts'

const tailBytes = 10 * 1024
/** Exit codes as shells use them. */
const timedOutCode = 124
const cancelledCode = 130
const notStartedCode = 126
/** `setTimeout` takes no more; 24 days. */
const maxTimerMs = 2_147_483_647

/** Runs shell commands for CI steps, set-up and hooks. The log stays open: it is the caller's. */
export function createScripts(): Scripts {
  return {
    run: async (script, { signal }) => {
      const started = performance.now()
      const tail = createOutputTail(tailBytes)
      const finished = (exit_code: number, timed_out = false): ScriptResult => ({
        exit_code,
        timed_out,
        duration_ms: Math.round(performance.now() - started),
        output_tail: tail.text(),
      })
      if (signal.aborted) return finished(cancelledCode)
      const tree = await start(script, tail)
      if (!tree) return finished(notStartedCode)
      return await supervise(script, tree, tail, signal, finished)
    },
    reap: (mark) => reapMarked(mark),
  }
}

async function supervise(
  script: ScriptRun,
  tree: ProcessTree,
  tail: OutputTail,
  signal: AbortSignal,
  finished: (exit_code: number, timed_out?: boolean) => ScriptResult,
): Promise<ScriptResult> {
  let stopped: 'timed_out' | 'cancelled' | undefined
  const stop = (reason: typeof stopped): void => {
    stopped ??= reason
    void tree.stop()
  }
  const cancel = (): void => stop('cancelled')
  const timer = setTimeout(() => stop('timed_out'), Math.min(script.timeout_ms, maxTimerMs))
  signal.addEventListener('abort', cancel, { once: true })
  if (signal.aborted) cancel()
  // What the script did by itself before the limit counts, even if its leftovers were ended after it.
  void tree.exited.then(() => {
    clearTimeout(timer)
    signal.removeEventListener('abort', cancel)
  })
  const outputs = await Promise.allSettled([
    pump(tree.stdout, script.log, tail),
    pump(tree.stderr, script.log, tail),
    tree.ended,
  ])
  // Only once nothing of the tree is left: whoever hears of the failure may remove the worktree.
  for (const output of outputs) if (output.status === 'rejected') throw output.reason
  const { exit_code } = await tree.ended
  if (stopped === 'timed_out') {
    await note(script.log, tail, `\nStopped: it ran longer than ${script.timeout_ms / 1000} s.\n`)
    return finished(timedOutCode, true)
  }
  return finished(stopped === 'cancelled' ? cancelledCode : exit_code)
}

/** null, with a note in the log, when it can't be started (its directory is gone). */
async function start(script: ScriptRun, tail: OutputTail): Promise<ProcessTree | null> {
  const { file, args, verbatimArguments } = shellCommand(script.command)
  try {
    const env = childEnvironment(script.env)
    const { cwd, mark } = script
    const place = { cwd, env, stdin: 'ignore', verbatimArguments } as const
    return await spawnTree(file, args, mark === undefined ? place : { ...place, mark })
  } catch (error) {
    if (!(error instanceof ProcessStartError)) throw error
    await note(script.log, tail, `Could not be started: ${error.message}\n`)
    return null
  }
}

/** Reads only as fast as the log takes it, so a flood is slowed down at its source. */
async function pump(output: Readable, log: LogWriter, tail: OutputTail): Promise<void> {
  const lines = createLineHold()
  let failure: Error | undefined
  const write = async (bytes: Uint8Array): Promise<void> => {
    if (bytes.length === 0) return
    tail.push(bytes)
    // With a broken log the output is still read: a full pipe would keep the script from ending.
    if (failure === undefined) await log.write(bytes).catch((error: Error) => (failure = error))
  }
  for await (const chunk of output as AsyncIterable<Buffer>) await write(lines.push(chunk))
  await write(lines.flush())
  if (failure !== undefined) throw failure
}

async function note(log: LogWriter, tail: OutputTail, text: string): Promise<void> {
  tail.push(Buffer.from(text))
  await log.write(text)
}
