import type { Writable } from 'node:stream'
import { ExecutorError } from '../../engine/ports.ts'
import type { AgentLog, Clock, ExecutionOutcome, ExecutionRun, RunningExecution } from '../../engine/ports.ts'
import type { ProcessTree, TreeEnd } from '../../base/process.ts'
import { createLineHold } from '../../base/line-hold.ts'
import { conclude, exitCodeOf } from './conclude.ts'
import { createStderrReader } from './read-stderr.ts'
import { createStreamReader } from './read-stream.ts'
import type { RunFacts } from './track-run.ts'

export interface SupervisedRun {
  readonly run: ExecutionRun
  readonly tree: ProcessTree & { readonly stdin: Writable }
  readonly clock: Clock
  /** Removed once the tree is gone, before the log is closed. */
  readonly resources: AsyncDisposable
  /** How long it may take to exit after its last turn, in ms. */
  readonly exitGraceMs: number
}

/** setTimeout fires at once for anything longer. */
const longestTimer = 2 ** 31 - 1

/** Gives a started Claude Code its prompt and follows it to its end. */
export function superviseRun({ run, tree, clock, resources, exitGraceMs }: SupervisedRun): RunningExecution {
  const { log } = run
  const now = (): string => new Date(clock.now()).toISOString()
  let endedBy: 'itself' | 'stop' | 'timeout' | 'linger' = 'itself'
  let exited = false
  let open = true
  let lingerTimer: NodeJS.Timeout | undefined
  void tree.exited.then(() => (exited = true))

  const end = async (why: typeof endedBy, graceMs?: number): Promise<void> => {
    if (!exited && endedBy === 'itself') endedBy = why
    await tree.stop(graceMs === undefined ? {} : { graceMs })
  }
  const stream = createStreamReader({
    now,
    onEntry: (entry) => log.entry(entry),
    onTurn: () => clearTimeout(lingerTimer),
    ...(run.onSession && { onSession: run.onSession }),
    onTurnEnd: (queued) => {
      // It works through what it was sent before, then exits. Some versions hang on a background job.
      open = false
      tree.stdin.end()
      clearTimeout(lingerTimer)
      if (queued === 0) lingerTimer = setTimeout(() => void end('linger', 2_000), exitGraceMs)
    },
  })
  const stderr = createStderrReader((entry) => log.entry(entry), now)
  const limit = run.timeout_seconds
  const limitTimer =
    limit === null ? undefined : setTimeout(() => void end('timeout'), Math.min(limit * 1_000, longestTimer))

  const finish = async (): Promise<ExecutionOutcome> => {
    const reading = await settle(Promise.all([drain(tree.stdout, stream, log), drain(tree.stderr, stderr, log)]))
    const treeEnd = await tree.ended
    clearTimeout(limitTimer)
    clearTimeout(lingerTimer)
    const cleaning = await settle(resources[Symbol.asyncDispose]())
    const closing = await settle(log.close())
    const failure = reading ?? closing ?? cleaning
    return describeEnd({ run, facts: stream.facts(), stderr: stderr.tail(), treeEnd, endedBy, failure })
  }

  log.entry({ type: 'prompt', at: now(), text: run.prompt })
  // A prompt that can't be delivered has no other cause than an early exit, which tells more.
  tree.stdin.write(userMessage(run.prompt), () => undefined)
  const outcome = finish()
  return {
    process: tree.process,
    outcome,
    stop: async () => {
      await end('stop')
      await outcome
    },
    input: async (data) => {
      if (!open || exited) throw inputClosed()
      log.entry({ type: 'prompt', at: now(), text: data })
      await new Promise<void>((resolve, reject) => {
        tree.stdin.write(userMessage(data), (error) => (error ? reject(inputClosed(error)) : resolve()))
      })
    },
  }
}

interface RunEnd {
  readonly run: ExecutionRun
  readonly facts: RunFacts
  readonly stderr: string
  readonly treeEnd: TreeEnd
  readonly endedBy: 'itself' | 'stop' | 'timeout' | 'linger'
  readonly failure: Error | null
}

function describeEnd({ run, facts, stderr, treeEnd, endedBy, failure }: RunEnd): ExecutionOutcome {
  const { conclusion, message } = conclude(facts, stderr)
  // A session that is not there any more must not be asked for again.
  const lost = facts.result?.subtype === 'error_during_execution' && facts.api_error === null && !facts.acted
  const session_id = lost && facts.last_words === null ? null : (facts.session_id ?? run.session_id)
  const told = { session_id, usage: facts.usage, conclusion }
  const words = failure === null ? message : `Its log could not be written: ${failure.message}`
  switch (endedBy) {
    case 'stop':
      return { ...told, ended: 'stopped', exit_code: treeEnd.exit_code, message: words }
    case 'timeout': {
      const text = `It was stopped after ${run.timeout_seconds ?? 0} s, the time it was given.`
      return { ...told, ended: 'timed_out', exit_code: treeEnd.exit_code, message: text }
    }
    case 'linger':
      return { ...told, ended: 'exited', exit_code: exitCodeOf(facts, 0), message: words }
    case 'itself':
      return { ...told, ended: 'exited', exit_code: exitCodeOf(facts, treeEnd.exit_code), message: words }
  }
}

/**
 * Reads only as fast as the log takes it. With a broken log the output is still read: a full pipe
 * would keep the agent from ending.
 */
async function drain(
  source: AsyncIterable<Uint8Array>,
  reader: { push(bytes: Uint8Array): void; end(): void },
  log: AgentLog,
): Promise<void> {
  const lines = createLineHold()
  let failure: Error | null = null
  const write = async (bytes: Uint8Array): Promise<void> => {
    if (bytes.length > 0 && failure === null) failure = await settle(log.raw(bytes))
  }
  for await (const bytes of source) {
    reader.push(bytes)
    await write(lines.push(bytes))
  }
  reader.end()
  await write(lines.flush())
  if (failure !== null) throw failure as Error
}

/** null when it went well, else why not. */
const settle = (promise: PromiseLike<unknown>): Promise<Error | null> =>
  Promise.resolve(promise).then(
    () => null,
    (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
  )

const inputClosed = (cause?: Error): ExecutorError =>
  new ExecutorError('input_closed', 'The agent has ended its turn and takes no more input.', { cause })

/** One line: some line readers, Node's among them, also end lines at U+2028 and U+2029, which JSON leaves as they are. */
function userMessage(text: string): string {
  const json = JSON.stringify({ type: 'user', message: { role: 'user', content: [{ type: 'text', text }] } })
  return `${json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}\n`
}
