import type { OutputCapture } from '../base/output-capture.ts'
import type { Principal } from '../domain/access/principal.ts'
import type { Ask, AskOption, TranscriptEntry, Usage, LogFile, LogSlice } from '../../src-shared/contract/executions.ts'
import type { TranscriptItem } from '../../src-shared/contract/events.ts'
import type { ExecutionId, ProjectId, TaskId, AgentId } from '../../src-shared/contract/ids.ts'
import type { AgentConfig, DetectedAgent, ExecutorProfile } from '../../src-shared/contract/projects.ts'

/**
 * What the engine needs of the outside. The adapters (`workspaces`, `executors`, `hooks`, `logs`,
 * `identity`) implement these; tests may bring fakes that pass the same contract suites.
 */

export interface Cancellable {
  readonly signal: AbortSignal
}

// ---- agents ------------------------------------------------------------------------------------

export interface ExecutionRun {
  readonly execution_id: ExecutionId
  readonly task_id: TaskId
  readonly cwd: string
  readonly prompt: string
  /** The agent's configuration with the claim's overrides laid over it. */
  readonly config: AgentConfig
  /** Added to the inherited environment: the `SVC_` variables with the bound token. */
  readonly env: Readonly<Record<string, string>>
  /** The MCP endpoint for this run; null when HTTP is off. */
  readonly mcp: { readonly url: string; readonly token: string } | null
  /** The agent's session to resume, when its profile can. */
  readonly session_id: string | null
  /** What earlier runs of that session have used, for agents that tell the sum of a session. */
  readonly session_usage?: Usage
  readonly timeout_seconds: number | null
  readonly log: AgentLog
  /** Told as soon as the agent names its session: after a crash it can still be resumed. */
  readonly onSession?: (session_id: string) => void
  /**
   * Puts something to people and settles with the first answer, or with null when none will come any
   * more: the run ends, or `signal` withdraws it. Absent where nobody can be asked.
   */
  readonly ask?: (request: AskRequest, options: Cancellable) => Promise<AskAnswer | null>
}

/** What an agent waits for somebody to answer. */
export type AskRequest = Omit<Ask, 'id' | 'asked_at'>

/** An answer that the request allows: one of its options, or words where it takes them, or both. */
export interface AskAnswer {
  readonly option: AskOption | null
  readonly text: string | null
}

/** Tells a process from a later one with the same pid. */
export interface ProcessIdentity {
  readonly pid: number
  /** Start time as the system counts it; opaque. */
  readonly started: string
}

export interface ExecutionOutcome {
  readonly ended: 'exited' | 'stopped' | 'timed_out' | 'failed_to_start'
  readonly exit_code: number | null
  readonly session_id: string | null
  readonly usage: Usage | null
  /** What its words and deeds show: `silent` said nothing at all. */
  readonly conclusion: 'done' | 'question' | 'limit' | 'silent'
  /** A sentence for people: its last words, or why it failed. */
  readonly message: string | null
}

export interface RunningExecution {
  readonly process: ProcessIdentity
  /** Never rejects; settles when the whole process tree is gone and the log is complete. */
  readonly outcome: Promise<ExecutionOutcome>
  /** TERM to the tree, KILL after 10 s; settles when it is gone. */
  stop(): Promise<void>
  input(data: string): Promise<void>
  /** Absent where it has no terminal. */
  readonly resize?: (cols: number, rows: number) => void
}

export interface Executors {
  /** `elsewhere`: the agent runs on its own, claims, heartbeats and finishes over the API. */
  hosting(profile: ExecutorProfile): 'here' | 'elsewhere'
  /** Throws `ExecutorError` when the agent can't be started at all. */
  start(profile: ExecutorProfile, run: ExecutionRun, options: Cancellable): Promise<RunningExecution>
  /** Ends what a killed service left running, `null` if it did not say which; harmless when the pid is somebody else's by now. */
  reap(process: ProcessIdentity | null, execution_id: ExecutionId): Promise<void>
  /** Those of a person's arguments that an agent would not get, because they are not the person's to set. */
  refusedArgs(profile: ExecutorProfile, config: Pick<AgentConfig, 'args' | 'permissions'>): readonly string[]
  detect(options: Cancellable): Promise<readonly DetectedAgent[]>
}

export class ExecutorError extends Error {
  override readonly name = 'ExecutorError'
  /** `input_closed`: it runs, or did, and takes no more input. */
  readonly code: 'not_installed' | 'not_configured' | 'spawn_failed' | 'input_closed'

  constructor(code: ExecutorError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

// ---- scripts and logs --------------------------------------------------------------------------

export interface ScriptRun {
  readonly command: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly timeout_ms: number
  /** Takes both outputs, line by line. */
  readonly log?: LogWriter
  /** They take each output by itself, as it comes; `stderr` also why it could not be started or was stopped. */
  readonly stdout?: OutputCapture
  readonly stderr?: OutputCapture
  /** There is more output than at the last call: at most every 250 ms, and once at the end. */
  readonly onOutput?: () => void
  /** A UUID by which a later service finds what a killed one left. */
  readonly mark?: string
}

export interface ScriptResult {
  /** 124 when it ran out of time, 130 when it was cancelled. */
  readonly exit_code: number
  readonly timed_out: boolean
  readonly duration_ms: number
  /** The last 10 KB of stdout and stderr together, whole characters only. */
  readonly output_tail: string
}

export interface Scripts {
  /** Runs a shell command in its own process group; no process of it is left when it settles. */
  run(script: ScriptRun, options: Cancellable): Promise<ScriptResult>
  /** Ends what a killed service left running of the scripts with this mark. */
  reap(mark: string): Promise<void>
}

export interface LogWriter {
  /** Redacts and appends. Resolves when the writer can take more. */
  write(bytes: Uint8Array | string): Promise<void>
  close(): Promise<void>
}

export interface AgentLog {
  /** Adds a readable entry (redacted) to `agent-{execution}.jsonl`. */
  entry(entry: TranscriptEntry): void
  /** Adds raw bytes (redacted) to `agent-{execution}.raw.log`. */
  raw(bytes: Uint8Array): Promise<void>
  /** Lets go of an unfinished last line of the raw bytes, for whoever looks at them as at a terminal. */
  show?(): Promise<void>
  close(): Promise<void>
}

export interface Logs {
  openAgent(run: {
    readonly project_id: ProjectId
    readonly task_id: TaskId
    readonly execution_id: ExecutionId
    readonly redact: (text: string) => string
    readonly onEntry?: (entry: TranscriptEntry) => void
  }): Promise<AgentLog>
  openFile(task_id: TaskId, name: string, redact: (text: string) => string): Promise<LogWriter>
  /** Writes what the task's agents are to know into a file beside the logs; its path. */
  writeKnowledge(task_id: TaskId, text: string): Promise<string>
  list(task_id: TaskId, execution_id?: ExecutionId): Promise<readonly LogFile[]>
  /** Removes all that is kept of a task. */
  forget(task_id: TaskId): Promise<void>
  /** null when there is no such log. */
  read(
    task_id: TaskId,
    name: string,
    offset: number,
    limit: number,
    /** Where nothing is there yet: how long more may take to come. */
    wait?: Cancellable & { readonly ms: number },
  ): Promise<LogSlice | null>
  /** The entries from line `from` on: those on disk, then live ones, then `end` once the log is closed. */
  follow(task_id: TaskId, execution_id: ExecutionId, from: number, options: Cancellable): AsyncIterable<TranscriptItem>
}

// ---- identity ----------------------------------------------------------------------------------

export interface AgentTokens {
  /** A token that works for this execution only, until `revoke`. */
  mint(bound: {
    readonly agent_id: AgentId
    readonly project_id: ProjectId
    readonly task_id: TaskId
    readonly execution_id: ExecutionId
  }): string
  revoke(execution_id: ExecutionId): void
}

// ---- small things ------------------------------------------------------------------------------

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
}

export type { Principal }
