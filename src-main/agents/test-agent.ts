import type { ExecutorProfile } from '../../src-shared/contract/executor-profiles.ts'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentTest } from '../../src-shared/contract/agent-tests.ts'
import type { TranscriptEntry } from '../../src-shared/contract/executions.ts'
import type { ExecutionId, TaskId } from '../../src-shared/contract/ids.ts'
import type { AgentConfig } from '../../src-shared/contract/projects.ts'
import { ExecutorError } from '../ports/executors.ts'
import type { AgentLog } from '../ports/logs.ts'
import type { Clock } from '../ports/clock.ts'
import type { ExecutionOutcome, ExecutionRun, Executors } from '../ports/executors.ts'

/** The prompt that tests whether an agent answers. */
const testPrompt =
  'This is a test of whether you can be reached. Do not read, run or change anything. Answer with the one word: ready'

const maxEntries = 200
const maxText = 4_000
const testSeconds = 120

export interface AgentTestDeps {
  readonly executors: Executors
  /** The folder for temporary test folders. */
  readonly root: string
  /** Creates an empty repository of this name there. */
  readonly makeFolder: (name: string, signal: AbortSignal) => Promise<string>
  /** Returns a function that hides all secrets known by now. */
  readonly redactor: () => (text: string) => string
  readonly clock: Clock
  readonly newId: () => string
}

export interface AgentTests {
  /** Starts an agent in an empty folder, asks it for one word, and removes everything afterwards. */
  run(agent: { executor: ExecutorProfile; config: AgentConfig }, signal: AbortSignal): Promise<AgentTest>
  /** Stops and removes what a killed service left of such tests. */
  sweep(): Promise<void>
}

export function createAgentTests(deps: AgentTestDeps): AgentTests {
  const { executors, root, clock } = deps
  return {
    run: async ({ executor, config }, signal) => {
      const began = clock.now()
      const id = deps.newId()
      const entries: TranscriptEntry[] = []
      const redact = deps.redactor()
      try {
        const cwd = await deps.makeFolder(id, signal)
        const run = runOf(id, cwd, config, logInto(entries, redact))
        const outcome = await attempt(executors, executor, run, signal)
        return seen(outcome, entries, clock.now() - began, redact)
      } finally {
        await remove(join(root, id))
      }
    },
    sweep: async () => {
      for (const id of await readdir(root).catch(noneIfMissing)) {
        await executors.reap(null, id as ExecutionId)
        await remove(join(root, id))
      }
    },
  }
}

function runOf(id: string, cwd: string, config: AgentConfig, log: AgentLog): ExecutionRun {
  return {
    execution_id: id as ExecutionId,
    task_id: id as TaskId,
    cwd,
    prompt: testPrompt,
    config,
    own_command: config.command,
    // Later services find the test's processes by this ID.
    env: { ...config.env, SVC_EXECUTION_ID: id, SVC_EVENT: 'agent_test' },
    mcp: null,
    session_id: null,
    timeout_seconds: testSeconds,
    log,
  }
}

async function attempt(
  executors: Executors,
  executor: ExecutorProfile,
  run: ExecutionRun,
  signal: AbortSignal,
): Promise<ExecutionOutcome> {
  try {
    const running = await executors.start(executor, run, { signal })
    const stop = () => void running.stop()
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    try {
      return await running.outcome
    } finally {
      signal.removeEventListener('abort', stop)
    }
  } catch (error) {
    if (!(error instanceof ExecutorError)) throw error
    const none = { exit_code: null, session_id: null, usage: null, conclusion: 'silent' } as const
    return { ...none, ended: 'failed_to_start', message: error.message }
  }
}

function seen(
  { ended: how, exit_code, usage, message }: ExecutionOutcome,
  entries: readonly TranscriptEntry[],
  duration_ms: number,
  redact: (text: string) => string,
): AgentTest {
  const started = how !== 'failed_to_start'
  const answered = entries.some(
    (entry) => (entry.type === 'message' || entry.type === 'stdout') && entry.text.trim() !== '',
  )
  const ended = how === 'exited' && exit_code === 0
  return {
    ok: started && answered && ended,
    started,
    answered,
    ended,
    exit_code,
    usage,
    duration_ms,
    message: message === null ? null : redact(message),
    entries: [...entries],
  }
}

/** Keeps entries that a person may read; drops raw bytes. */
function logInto(entries: TranscriptEntry[], redact: (text: string) => string): AgentLog {
  const clean = (value: unknown): unknown => {
    if (typeof value === 'string') return redact(value).slice(0, maxText)
    if (Array.isArray(value)) return value.map(clean)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, clean(item)]))
  }
  return {
    entry: (entry) => {
      if (entries.length < maxEntries) entries.push(clean(entry) as TranscriptEntry)
    },
    raw: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }
}

const remove = (path: string): Promise<void> => rm(path, { recursive: true, force: true, maxRetries: 5 })

function noneIfMissing(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return []
  throw error
}
