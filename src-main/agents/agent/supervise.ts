import type { Writable } from 'node:stream'
import type { ProcessTree, TreeEnd } from '../../platform/process/process.ts'
import { ExecutorError } from '../../ports/executors.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ExecutionOutcome, RunningExecution } from '../../ports/executors.ts'
import type { AgentRun } from '../definition.ts'
import type { AgentProfile, RunResult } from './agent-profile.ts'
import { drain, settle } from './drain.ts'
import { createStderrReader } from './read-stderr.ts'
import { lastParagraph } from './classify-output.ts'

export interface SupervisedRun {
  readonly run: AgentRun
  readonly tree: ProcessTree & { readonly stdin: Writable }
  readonly clock: Clock
  readonly profile: Pick<AgentProfile, 'createSession'>
  /** Disposed of once the process tree is gone, before the log is closed. */
  readonly resources: AsyncDisposable
  /** Time limit for the exit after the last turn, in ms. */
  readonly exitGraceMs: number
}

/** Why a run ended. `exit_timeout`: it did not exit in time after its last turn. */
type EndedBy = 'itself' | 'stop' | 'timeout' | 'exit_timeout'

/** How long a cancelled agent may take to tell what its turn used, in ms. */
const cancelMs = 1_000

/** Resolves once `promise` has settled, after `ms` at the latest. */
async function settledWithin(promise: Promise<unknown>, ms: number): Promise<void> {
  const late = Promise.withResolvers<void>()
  const timer = setTimeout(late.resolve, ms)
  await Promise.race([promise, late.promise])
  clearTimeout(timer)
}

/** setTimeout fires at once for longer delays. */
const longestTimer = 2 ** 31 - 1

/** Sends a started agent its prompt and supervises it until it has ended. */
export function superviseRun({ run, tree, clock, profile, resources, exitGraceMs }: SupervisedRun): RunningExecution {
  const { log } = run
  const now = isoClock(clock)
  let endedBy: EndedBy = 'itself'
  let exited = false
  let open = true
  let lingerTimer: NodeJS.Timeout | undefined
  void tree.exited.then(() => (exited = true))

  const turnEnded = Promise.withResolvers<void>()
  const end = async (why: EndedBy, graceMs?: number): Promise<void> => {
    if (!exited && endedBy === 'itself') endedBy = why
    if (why === 'stop' && open && dialogue.cancel) {
      dialogue.cancel()
      await settledWithin(Promise.race([turnEnded.promise, tree.exited]), Math.min(cancelMs, graceMs ?? cancelMs))
    }
    await tree.stop(graceMs === undefined ? {} : { graceMs })
  }
  const dialogue = profile.createSession(run, {
    now,
    onEntry: (entry) => log.entry(entry),
    onSession: (session_id) => run.onSession?.(session_id),
    onTurn: () => clearTimeout(lingerTimer),
    onTurnEnd: (queued) => {
      // The agent finishes what it was sent, then exits. Some hang on a background job.
      open = false
      turnEnded.resolve()
      tree.stdin.end()
      clearTimeout(lingerTimer)
      if (queued === 0) lingerTimer = setTimeout(() => void end('exit_timeout', 2_000), exitGraceMs)
    },
    giveUp: () => void end('exit_timeout', 2_000),
    write: (text) => writeTo(tree.stdin, text),
    closeInput: () => void tree.stdin.end(),
  })
  const stderr = createStderrReader((entry) => log.entry(entry), now)
  const limit = run.timeout_seconds
  const limitTimer =
    limit === null ? undefined : setTimeout(() => void end('timeout'), Math.min(limit * 1_000, longestTimer))

  const finish = async (): Promise<ExecutionOutcome> => {
    const reading = await settle(
      Promise.all([drain(tree.stdout, dialogue, log, dialogue.logged), drain(tree.stderr, stderr, log)]),
    )
    const treeEnd = await tree.ended
    clearTimeout(limitTimer)
    clearTimeout(lingerTimer)
    const result = dialogue.result(stderr.tail())
    noteQuestion(run, result, endedBy, now())
    const cleaning = await settle(resources[Symbol.asyncDispose]())
    const closing = await settle(log.close())
    return describeEnd({ run, result, treeEnd, endedBy, failure: reading ?? closing ?? cleaning })
  }

  log.entry({ type: 'prompt', at: now(), text: run.prompt })
  dialogue.begin(run.prompt)
  const outcome = finish()
  return {
    process: tree.process,
    outcome,
    isTurnOver: () => !open,
    stop: async ({ graceMs } = {}) => {
      await end('stop', graceMs)
      await outcome
    },
    input: async (data) => {
      if (dialogue.send === null || !open || exited) throw inputClosed()
      log.entry({ type: 'prompt', at: now(), text: data })
      await dialogue.send(data)
    },
  }
}

/** The time as ISO 8601, which hundreds of entries of one millisecond share. */
function isoClock(clock: Clock): () => string {
  let at = Number.NaN
  let text = ''
  return () => {
    const ms = clock.now()
    if (ms !== at) text = new Date(ms).toISOString()
    at = ms
    return text
  }
}

/** Writes a question at the end of the last message as a question entry, because it waits for a person. */
function noteQuestion({ log }: AgentRun, result: RunResult, endedBy: EndedBy, at: string): void {
  if (result.conclusion !== 'question' || result.message === null || endedBy === 'stop' || endedBy === 'timeout') return
  log.entry({ type: 'question', at, text: lastParagraph(result.message) })
}

interface RunEnd {
  readonly run: AgentRun
  readonly result: RunResult
  readonly treeEnd: TreeEnd
  readonly endedBy: EndedBy
  readonly failure: Error | null
}

function describeEnd({ run, result, treeEnd, endedBy, failure }: RunEnd): ExecutionOutcome {
  const { failed, ...told } = result
  const message = failure === null ? told.message : `Its log could not be written: ${failure.message}`
  // The exit code proves little; a failed turn with exit code 0 is still a failure.
  const codeAfter = (code: number): number => (code === 0 && failed ? 1 : code)
  switch (endedBy) {
    case 'stop':
      return { ...told, ended: 'stopped', exit_code: treeEnd.exit_code, message }
    case 'timeout': {
      const text = `Stopped at the time limit of ${run.timeout_seconds ?? 0} s.`
      return { ...told, ended: 'timed_out', exit_code: treeEnd.exit_code, message: text }
    }
    case 'exit_timeout':
      return { ...told, ended: 'exited', exit_code: codeAfter(0), message }
    case 'itself': {
      // The last message would read as a good end; it stays in the transcript.
      const text = treeEnd.signal === null ? message : `The agent was ended by ${treeEnd.signal}.`
      return { ...told, ended: 'exited', exit_code: codeAfter(treeEnd.exit_code), message: text }
    }
  }
}

const writeTo = (stdin: Writable, text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    stdin.write(text, (error) => (error ? reject(inputClosed(error)) : resolve()))
  })

const inputClosed = (cause?: Error): ExecutorError =>
  new ExecutorError('input_closed', 'The agent has ended its turn and takes no more input.', { cause })
