import type { ExecutorProfile } from '../../src-shared/contract/executor-profiles.ts'
import type { AccountWindow } from '../../src-shared/contract/accounts.ts'
import type { Ask, AskOption, RunLink, Usage } from '../../src-shared/contract/executions.ts'
import type { AgentId, ExecutionId, TaskId } from '../../src-shared/contract/ids.ts'
import type { AgentConfig, DetectedAgent } from '../../src-shared/contract/projects.ts'
import type { Cancellable } from './cancellable.ts'
import type { AgentLog, AgentLogSizes } from './logs.ts'

/** An image sent with a prompt. */
export interface PromptImage {
  readonly media_type: string
  readonly data_base64: string
}

export interface ExecutionRun {
  readonly execution_id: ExecutionId
  readonly task_id: TaskId
  /** The agent whose private home a contained run has; absent for a test, which has none. */
  readonly agent_id?: AgentId
  readonly cwd: string
  readonly prompt: string
  /** Images that the prompt names, for agents that accept them; they are also files in the worktree. */
  readonly images?: readonly PromptImage[]
  /** The agent's configuration with the claim's overrides applied. */
  readonly config: AgentConfig
  /** The command that the agent's owner configured; absent without one. */
  readonly own_command?: string | undefined
  /** Added to the inherited environment: the `SVC_` variables with the bound token. */
  readonly env: Readonly<Record<string, string>>
  /** The MCP endpoint for this run; null when HTTP is off. */
  readonly mcp: { readonly url: string; readonly token: string } | null
  /** The agent's session to resume, if its executor can. */
  readonly session_id: string | null
  /** Usage of earlier runs of this session, for agents that report the sum of a session. */
  readonly session_usage?: Usage
  readonly timeout_seconds: number | null
  readonly log: AgentLog
  /** Called as soon as the agent names its session, so that it can be resumed after a crash. */
  readonly onSession?: (session_id: string) => void
  /** Called when a server answers a contained run, where that can be seen. */
  readonly onAnswer?: (answer: ServerAnswer) => void
  /**
   * Asks people and resolves with the first answer, or with null if the run ends or `signal` aborts. Absent if no one
   * can be asked.
   */
  readonly ask?: (request: AgentRequest, options: Cancellable) => Promise<AgentRequestAnswer | null>
  /** Called when a person allowed a host for all runs of the agent. */
  readonly onHostAllowed?: (host: string) => void
  /** Called when the contact with the run's machine begins, is lost, and is back. */
  readonly onLink?: (link: RunLink) => void
}

/** A question or permission request of an agent. */
export type AgentRequest = Omit<Ask, 'id' | 'asked_at'>

/** An allowed answer: one of the request's options, a text where it accepts one, or both. */
export interface AgentRequestAnswer {
  readonly option: AskOption | null
  readonly text: string | null
}

/** Tells a process apart from a later one with the same pid. */
interface ProcessIdentity {
  readonly pid: number
  /** Start time as the system counts it, opaque. */
  readonly started: string
}

/** A server's answer to a contained run, with when it says that its limit resets. */
export interface ServerAnswer {
  readonly host: string
  readonly status: number
  readonly resets_at: string | null
}

/** Changes and commands of an agent that did not ask although it must; `actions` names the first of them. */
export interface UnaskedActions {
  readonly count: number
  readonly actions: readonly string[]
}

export interface ExecutionOutcome {
  /** `lost`: the machine that it ran on is out of contact or gone. */
  readonly ended: 'exited' | 'stopped' | 'timed_out' | 'failed_to_start' | 'lost'
  readonly exit_code: number | null
  readonly session_id: string | null
  readonly usage: Usage | null
  /** Judged by messages and tool use: `silent` sent no message, `talked` used no tool. */
  readonly conclusion: 'done' | 'talked' | 'question' | 'limit' | 'silent'
  /** One sentence for people: the last message, or the reason of the failure. */
  readonly message: string | null
  /**
   * The provider refuses requests until `resets_at`, if it says when outside its message; `account` is set if it
   * names one.
   */
  readonly usage_limit?: { readonly resets_at: string | null; readonly account?: string }
  /** Present if the agent has not kept to its permissions. */
  readonly unasked?: UnaskedActions
  /** Usage of the account's limits, if the provider reports it. */
  readonly windows?: readonly AccountWindow[]
}

/** A run that went on elsewhere while the service was not there, and who hears of it from now on. */
export interface HeldExecution extends Pick<
  ExecutionRun,
  'execution_id' | 'task_id' | 'log' | 'onSession' | 'onAnswer' | 'onHostAllowed' | 'onLink' | 'ask'
> {
  /** Makes another token for the run, where it has not got its first. */
  readonly newToken: () => Promise<string>
}

export interface RunningExecution {
  /** null: it is no process of this machine. */
  readonly process: ProcessIdentity | null
  /** Never rejects; resolves when the whole process tree is gone and the log is complete. */
  readonly outcome: Promise<ExecutionOutcome>
  /** Sends TERM to the process tree, and KILL after `graceMs` (10 s); resolves when it is gone. */
  stop(options?: { readonly graceMs?: number }): Promise<void>
  input(data: string): Promise<void>
  /** Whether the last turn has ended, so that the agent exits on its own. Absent if that is not known. */
  readonly isTurnOver?: () => boolean
  /** The record says that it runs: until then it does nothing. Absent where it has begun at once. */
  readonly begin?: () => void
  /** What came of its end is saved. */
  readonly settle?: () => void
  /**
   * Leaves it alone, for the next service to go on with; its outcome stays open. Absent where a run ends with the
   * service.
   */
  readonly leave?: () => Promise<void>
  /** Absent without a terminal. */
  readonly resize?: (cols: number, rows: number) => void
}

export interface Executors {
  /** `remote`: the agent runs elsewhere and claims, sends heartbeats and finishes over the API. */
  location(profile: ExecutorProfile): 'local' | 'remote'
  /** Throws `ExecutorError` if the agent can't be started. */
  start(profile: ExecutorProfile, run: ExecutionRun, options: Cancellable): Promise<RunningExecution>
  /**
   * Kills what a killed service left running; `process` is null if it was not recorded. Harmless if the pid belongs
   * to another process by now.
   */
  reap(process: ProcessIdentity | null, execution_id: ExecutionId): Promise<void>
  /** Returns how much is kept of the log of a run that went on without the service; null if none did. */
  held?(execution_id: ExecutionId): AgentLogSizes | null
  /** Goes on with such a run. */
  takeUp?(run: HeldExecution): RunningExecution
  /** Returns the configured arguments that the agent does not get because Copse sets them. */
  refusedArgs(profile: ExecutorProfile, config: Pick<AgentConfig, 'args' | 'permissions'>): readonly string[]
  detect(options: Cancellable): Promise<readonly DetectedAgent[]>
  /** Detects one type, as an agent with this configuration would find it. */
  inspect(profile: ExecutorProfile, config: AgentConfig, options: Cancellable): Promise<DetectedAgent>
}

export class ExecutorError extends Error {
  override readonly name = 'ExecutorError'
  /** `input_closed`: the agent was started but accepts no more input. */
  readonly code: 'not_installed' | 'not_configured' | 'spawn_failed' | 'input_closed'

  constructor(code: ExecutorError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
