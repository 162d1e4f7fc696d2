import type { Readable } from 'node:stream'
import { createLineBuffer } from '../../platform/text/line-buffer.ts'
import { childEnvironment } from '../../platform/process/process-environment.ts'
import { shellCommand } from '../../platform/process/process-shell.ts'
import { ProcessStartError, spawnTree } from '../../platform/process/process.ts'
import type { ProcessTree } from '../../platform/process/process.ts'
import { ExecutorError } from '../../ports/executors.ts'
import type { AgentLog } from '../../ports/logs.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import type { ExecutionOutcome, RunningExecution } from '../../ports/executors.ts'
import type { AgentRun } from '../definition.ts'
import { isLimitError, wordsOfError } from '../agent/classify-output.ts'
import { writePrivateFile } from '../agent/private-file.ts'
import type { PrivateFile } from '../agent/private-file.ts'
import { findOnPath } from '../../platform/process/find-on-path.ts'
import type { ExecutorDefinition } from '../definition.ts'
import { createJsonEnding, type JsonEnding } from './json-ending.ts'
import { readTerminal } from './terminal/read-terminal.ts'
import { spawnTerminal, type TerminalTree } from './terminal/spawn-terminal.ts'
import { createSvcFilter, createSvcLines, type SvcLines } from './svc-lines.ts'
import { createOutputEntries } from './output-entries.ts'
import type { OutputEntries } from './output-entries.ts'

/** The longest delay of `setTimeout`; 24 days. */
const maxTimerMs = 2_147_483_647
const notFoundCode = 127

/**
 * Any shell command, run in the worktree. It reads the prompt from stdin or from the file `SVC_PROMPT_FILE`;
 * `config.args` are appended as separate arguments. With `config.terminal` it runs in a terminal in which people can
 * type. It reports on its run by lines like `{"svc":{"usage":{…}}}`.
 */
export const definition: ExecutorDefinition = {
  executor: 'command',
  configNames: [],
  start: startCommand,
  refusedArgs: () => [],
  detect: () => {
    const path = process.platform === 'win32' ? findOnPath('cmd.exe') : '/bin/sh'
    return Promise.resolve({
      executor: 'command',
      name: 'Shell command',
      installed: true,
      path,
      version: null,
      signed_in: null,
      hint: null,
    })
  },
}

async function startCommand(run: AgentRun, { signal }: Cancellable): Promise<RunningExecution> {
  let promptFile: PrivateFile | undefined
  try {
    const line = run.config.command?.trim() ?? ''
    if (line === '')
      throw new ExecutorError('not_configured', 'The agent has no command: set one in its configuration.')
    signal.throwIfAborted()
    promptFile = await writePrivateFile('prompt.md', run.prompt)
    const { file, args, verbatimArguments } = shellCommand(line, run.config.args)
    const env = childEnvironment({
      ...run.config.env,
      ...run.env,
      SVC_PROMPT_FILE: promptFile.path,
      ...(run.session_id !== null && { SVC_SESSION_ID: run.session_id }),
    })
    const work =
      run.config.terminal === true
        ? inTerminal(run, await spawnTerminal(file, args, { cwd: run.cwd, env, box: run.box }))
        : onPipes(
            run,
            await spawnTree(file, args, { cwd: run.cwd, env, box: run.box, stdin: 'pipe', verbatimArguments }),
          )
    return watch(run, work, promptFile)
  } catch (error) {
    await promptFile?.[Symbol.asyncDispose]()
    await run.log.close()
    if (error instanceof ProcessStartError) throw new ExecutorError('spawn_failed', error.message, { cause: error })
    throw error
  }
}

/** A running command, in a terminal or not. */
interface Work {
  readonly tree: Pick<ProcessTree, 'process' | 'exited' | 'ended' | 'stop'>
  readonly outputs: readonly OutputEntries[]
  /** What the command reported of its run. */
  readonly told: SvcLines
  /** What the events of an agent that prints them say of its end. */
  readonly ending?: JsonEnding
  /** Settles when all output was read. */
  readonly read: Promise<unknown>
  readonly input: (data: string) => Promise<void>
  readonly resize?: (cols: number, rows: number) => void
}

function onPipes(run: AgentRun, tree: ProcessTree): Work {
  const stdout = createOutputEntries('stdout', run.log)
  const stderr = createOutputEntries('stderr', run.log)
  const told = createSvcLines(run)
  const ending = createJsonEnding()
  // Commands read their prompt to the end, so stdin must end.
  tree.stdin?.end(run.prompt)
  return {
    tree,
    outputs: [stderr, stdout],
    told,
    ending,
    read: all([copyOutput(tree.stdout, stdout, run.log, { told, ending }), copyOutput(tree.stderr, stderr, run.log)]),
    input: () => Promise.reject(new ExecutorError('input_closed', 'This command reads nothing after its prompt.')),
  }
}

function inTerminal(run: AgentRun, tree: TerminalTree): Work {
  const entries = createOutputEntries('stdout', run.log)
  const told = createSvcLines(run)
  return {
    tree,
    outputs: [entries],
    told,
    read: readTerminal(tree.output, entries, run.log, createSvcFilter(told)),
    input: (data) => {
      tree.write(data)
      return Promise.resolve()
    },
    resize: tree.resize,
  }
}

/** Waits for all, then throws the first error. */
async function all(tasks: readonly Promise<void>[]): Promise<void> {
  const failure = (await Promise.allSettled(tasks)).find((result) => result.status === 'rejected')
  if (failure) throw failure.reason
}

function watch(run: AgentRun, work: Work, promptFile: PrivateFile): RunningExecution {
  const { tree } = work
  let cut: 'stopped' | 'timed_out' | undefined
  let exited = false
  const stop = async (reason: 'stopped' | 'timed_out', options = {}): Promise<void> => {
    // A command that exited was not stopped, even if its leftover processes are.
    if (!exited) cut ??= reason
    await tree.stop(options)
  }
  const timer =
    run.timeout_seconds === null
      ? undefined
      : setTimeout(() => void stop('timed_out'), Math.min(run.timeout_seconds * 1_000, maxTimerMs))
  void tree.exited.then(() => {
    exited = true
    clearTimeout(timer)
  })
  run.log.entry({ type: 'prompt', at: new Date().toISOString(), text: run.prompt })
  const outcome = finish(run, work, promptFile, () => cut)
  return {
    process: tree.process,
    outcome,
    stop: async (options) => {
      await stop('stopped', options)
      await outcome
    },
    input: work.input,
    ...(work.resize && { resize: work.resize }),
  }
}

async function finish(
  run: AgentRun,
  { tree, outputs, told, ending, read }: Work,
  promptFile: PrivateFile,
  cut: () => 'stopped' | 'timed_out' | undefined,
): Promise<ExecutionOutcome> {
  const reading = await Promise.allSettled([read, tree.ended])
  const end = await tree.ended
  const failure = cut() === undefined ? (ending?.failure() ?? null) : null
  // A turn that failed is a failure, whatever the exit code.
  const exit_code = end.exit_code === 0 && failure !== null ? 1 : end.exit_code
  const message = failure === null ? describe(run, exit_code, cut(), outputs) : `The agent failed. ${failure}`
  // That a person stopped the command is no error.
  if (message !== null && cut() !== 'stopped' && (cut() === 'timed_out' || exit_code !== 0)) {
    run.log.entry({ type: 'error', at: new Date().toISOString(), text: message })
  }
  const closing = await Promise.allSettled([run.log.close(), promptFile[Symbol.asyncDispose]()])
  const broken = [...reading, ...closing].find((result) => result.status === 'rejected')
  const words = failure ?? outputs.find(({ lastLine }) => lastLine !== '')?.lastLine ?? ''
  const isLimited = cut() === undefined && exit_code !== 0 && isLimitError(words)
  return {
    ended: cut() ?? 'exited',
    exit_code,
    ...(isLimited && { usage_limit: { resets_at: null } }),
    ...told.result(),
    conclusion: outputs.some(({ spoke }) => spoke) ? 'done' : 'silent',
    message: broken ? `Its log could not be written: ${String(broken.reason)}` : message,
  }
}

/** Reads only as fast as the log accepts it, which slows a flood down at its source. */
async function copyOutput(
  output: Readable,
  entries: OutputEntries,
  log: AgentLog,
  { told, ending }: Partial<Pick<Work, 'told' | 'ending'>> = {},
): Promise<void> {
  const lines = createLineBuffer()
  const filter = told && createSvcFilter(told)
  let failure: Error | undefined
  const write = async (bytes: Uint8Array): Promise<void> => {
    if (bytes.length === 0) return
    entries.push(bytes)
    ending?.push(bytes)
    // After an error of the log the output is still read: a full pipe would keep the command from ending.
    if (failure === undefined) await log.raw(bytes).catch((error: Error) => (failure = error))
  }
  for await (const chunk of output as AsyncIterable<Buffer>) await write(lines.push(filter?.push(chunk) ?? chunk))
  if (filter) await write(lines.push(filter.flush()))
  await write(lines.flush())
  entries.flush()
  if (failure !== undefined) throw failure
}

/** Returns a sentence for people: the reason of a failure, or the last line. */
function describe(
  run: AgentRun,
  exitCode: number,
  cut: 'stopped' | 'timed_out' | undefined,
  outputs: readonly OutputEntries[],
): string | null {
  if (cut === 'timed_out') return `Stopped at the time limit of ${run.timeout_seconds} s.`
  if (cut === 'stopped') return 'It was stopped.'
  const lastOutput = wordsOfError(outputs.find(({ lastLine }) => lastLine !== '')?.lastLine ?? '')
  const suffix = lastOutput && ` ${lastOutput}`
  if (exitCode === notFoundCode) return `The command was not found. Check the agent's command.${suffix}`
  if (exitCode !== 0) return `The agent failed (exit ${exitCode}).${suffix}`
  return outputs.findLast(({ lastLine }) => lastLine !== '')?.lastLine ?? null
}
