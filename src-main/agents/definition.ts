import type { ExecutorProfile } from '../../src-shared/contract/executor-profiles.ts'
import type { AgentConfig, DetectedAgent } from '../../src-shared/contract/projects.ts'
import type { Box } from '../platform/process/box.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import type { ExecutionRun, RunningExecution } from '../ports/executors.ts'

/** What decides which arguments an agent gets. */
export type ArgsConfig = Pick<AgentConfig, 'args' | 'permissions'>

/** A run as a type of agent gets it. */
export interface AgentRun extends ExecutionRun {
  /** The `configNames` of all types of agent: no agent writes another's settings without asking. */
  readonly protectedNames: ReadonlySet<string>
  /** What it is started in; absent: it is not contained. */
  readonly box?: Box | undefined
}

/** What a contained run of this agent needs beside its worktree. */
export interface AgentNeeds {
  /** It is in the command lines of programs that start this agent, such as one that speaks ACP for it. */
  readonly word: string
  /** Its settings, sessions and sign-in below the home folder, by `~`. Other agents can't read them. */
  readonly folders: readonly string[]
  /** Where its model is. */
  readonly hosts: readonly string[]
  /** What the names of the variables begin with that say how it reaches its model; others are not inherited. */
  readonly variables?: readonly string[]
  /** Variables that name a folder to use in place of one of these. */
  readonly folderVariables?: readonly string[]
}

/**
 * A type of agent: how it is found, started, read and stopped. Each lies in a folder of its own; what clients know of
 * it is its record in `executorInfos`.
 */
export interface ExecutorDefinition {
  readonly executor: ExecutorProfile
  /** Absent: it keeps nothing and reaches no host of its own. */
  readonly needs?: AgentNeeds | undefined
  /**
   * Names of files and folders in a repository that steer this agent: its settings, instructions for its tools, hooks.
   * Lower case. An agent that may edit its worktree asks before it writes below one.
   */
  readonly configNames: readonly string[]
  /**
   * Starts one run. `signal` ends the attempt to start; once this has resolved, only
   * `RunningExecution.stop` ends the run. Closing `run.log` is up to it: when `outcome` settles,
   * the tree is gone and the log is closed. Throws `ExecutorError` when the agent can't be started,
   * with the log closed and nothing left behind. Never called where the agent runs elsewhere.
   */
  start(run: AgentRun, options: Cancellable): Promise<RunningExecution>
  /** Those of a person's arguments that its agent would not get, because they are not the person's to set. */
  refusedArgs(config: ArgsConfig): readonly string[]
  /** Whether and where its agent is installed on this machine, as `config` would find it; takes 10 s at most. */
  detect(options: Cancellable & { readonly config?: AgentConfig }): Promise<DetectedAgent>
}
