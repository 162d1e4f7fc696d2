import type { ExecutorProfile } from '../../src-shared/contract/executor-profiles.ts'
import type { AgentConfig, DetectedAgent } from '../../src-shared/contract/projects.ts'
import type { Box } from '../platform/process/box.ts'
import type { AgentPrograms } from '../ports/agent-programs.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import type { ExecutionRun, RunningExecution } from '../ports/executors.ts'

/** The settings that decide which arguments an agent gets. */
export type ArgsConfig = Pick<AgentConfig, 'args' | 'permissions'>

/** A run as an executor gets it. */
export interface AgentRun extends ExecutionRun {
  /** The `configNames` of all executors: no agent may write another's settings without asking. */
  readonly protectedNames: ReadonlySet<string>
  /** The box to start in; absent: not contained. */
  readonly box?: Box | undefined
  /** The programs where the run is; absent: this machine’s. */
  readonly programs?: AgentPrograms | undefined
}

/** What a contained run of this agent needs besides its worktree. */
export interface AgentNeeds {
  /** A name in the command lines that start this agent, such as one that wraps it in ACP. */
  readonly word: string
  /** The name is a whole word of those command lines, because it is short or part of others. */
  readonly isWholeWord?: boolean
  /** Settings, sessions and sign-in below the home folder, as paths from `~`. Other agents can't read them. */
  readonly folders: readonly string[]
  /** Hosts of its model. */
  readonly hosts: readonly string[]
  /** Prefixes of the variables that configure how it reaches its model; other variables are not inherited. */
  readonly variables?: readonly string[]
  /** Variables that name a folder to use instead of one of these. */
  readonly folderVariables?: readonly string[]
}

export interface Detection extends Cancellable {
  readonly config?: AgentConfig
  readonly programs?: AgentPrograms | undefined
}

/**
 * The executor of one type of agent: how it is found, started, read and stopped. Each has its own folder;
 * `executorInfos` has what clients know of it.
 */
export interface ExecutorDefinition {
  readonly executor: ExecutorProfile
  /** Absent: it has no folders or hosts. */
  readonly needs?: AgentNeeds | undefined
  /**
   * Names of files and folders in a repository that control this agent: its settings, instructions for its tools,
   * hooks. Lower case. An agent that may edit its worktree asks before it writes to one.
   */
  readonly configNames: readonly string[]
  /**
   * Starts one run. `signal` aborts the start; once this has resolved, only `RunningExecution.stop` ends the run. The
   * executor closes `run.log`: when `outcome` settles, the process tree is gone and the log is closed. Throws
   * `ExecutorError` if the agent can't be started, with the log closed and nothing left. Never called for agents that
   * run elsewhere.
   */
  start(run: AgentRun, options: Cancellable): Promise<RunningExecution>
  /** Returns the configured arguments that the agent does not get because Copse sets them. */
  refusedArgs(config: ArgsConfig): readonly string[]
  /**
   * Detects whether and where the agent is installed, on this machine or among `programs`, as `config` would find it;
   * takes 10 s at most on this machine.
   */
  detect(options: Detection): Promise<DetectedAgent>
}
