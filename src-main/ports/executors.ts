import type { ExecutorProfile } from '../../src-shared/contract/executor-profiles.ts'
import type { AccountWindow } from '../../src-shared/contract/accounts.ts'
import type { Ask, AskOption, Usage } from '../../src-shared/contract/executions.ts'
import type { ExecutionId, TaskId } from '../../src-shared/contract/ids.ts'
import type { AgentConfig, DetectedAgent } from '../../src-shared/contract/projects.ts'
import type { Cancellable } from './cancellable.ts'
import type { AgentLog } from './logs.ts'

/** A picture that goes along with a prompt. */
export interface PromptImage {
  readonly media_type: string
  readonly data_base64: string
}

export interface ExecutionRun {
  readonly execution_id: ExecutionId
  readonly task_id: TaskId
  readonly cwd: string
  readonly prompt: string
  /** Pictures that the prompt names, for agents that take them; they are also files in the worktree. */
  readonly images?: readonly PromptImage[]
  /** The agent's configuration with the claim's overrides laid over it. */
  readonly config: AgentConfig
  /** The command that the owner of the agent wrote; absent where there is none, or where nobody did. */
  readonly own_command?: string | undefined
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
  readonly ask?: (request: AgentRequest, options: Cancellable) => Promise<AgentRequestAnswer | null>
}

/** What an agent waits for somebody to answer. */
export type AgentRequest = Omit<Ask, 'id' | 'asked_at'>

/** An answer that the request allows: one of its options, or words where it takes them, or both. */
export interface AgentRequestAnswer {
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
  /** What its words and deeds show: `silent` said nothing at all, `talked` used no tool. */
  readonly conclusion: 'done' | 'talked' | 'question' | 'limit' | 'silent'
  /** A sentence for people: its last words, or why it failed. */
  readonly message: string | null
  /**
   * Its provider has refused it for now, until `resets_at` where that was told apart from the message; `account` where it
   * names one.
   */
  readonly usage_limit?: { readonly resets_at: string | null; readonly account?: string }
  /** How far the account is used, where the provider tells it. */
  readonly windows?: readonly AccountWindow[]
}

export interface RunningExecution {
  readonly process: ProcessIdentity
  /** Never rejects; settles when the whole process tree is gone and the log is complete. */
  readonly outcome: Promise<ExecutionOutcome>
  /** TERM to the tree, KILL after 10 s; settles when it is gone. */
  stop(): Promise<void>
  input(data: string): Promise<void>
  /** Its turn has ended and no other follows: it ends by itself. Absent where that can't be told. */
  readonly isTurnOver?: () => boolean
  /** Absent where it has no terminal. */
  readonly resize?: (cols: number, rows: number) => void
}

export interface Executors {
  /** `remote`: the agent runs on its own, claims, heartbeats and finishes over the API. */
  location(profile: ExecutorProfile): 'local' | 'remote'
  /** Throws `ExecutorError` when the agent can't be started at all. */
  start(profile: ExecutorProfile, run: ExecutionRun, options: Cancellable): Promise<RunningExecution>
  /** Ends what a killed service left running, `null` if it did not say which; harmless when the pid is somebody else's by now. */
  reap(process: ProcessIdentity | null, execution_id: ExecutionId): Promise<void>
  /** Those of a person's arguments that an agent would not get, because they are not the person's to set. */
  refusedArgs(profile: ExecutorProfile, config: Pick<AgentConfig, 'args' | 'permissions'>): readonly string[]
  detect(options: Cancellable): Promise<readonly DetectedAgent[]>
  /** The same of one type, as an agent that is configured so would find it. */
  inspect(profile: ExecutorProfile, config: AgentConfig, options: Cancellable): Promise<DetectedAgent>
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
