import type { AgentConfig, DetectedAgent, ExecutorProfile } from '../../src-shared/contract/projects.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import type { ExecutionRun, RunningExecution } from '../ports/executors.ts'

/** What decides which arguments an agent gets. */
export type ArgsConfig = Pick<AgentConfig, 'args' | 'permissions'>

/** One executor profile: how its agent is found, started, read and stopped. */
export interface ExecutorProfileDriver {
  readonly name: ExecutorProfile
  /** `remote`: the agent runs on its own and speaks to the API; `start` is never called. */
  readonly location: 'local' | 'remote'
  /**
   * Starts one run. `signal` ends the attempt to start; once this has resolved, only
   * `RunningExecution.stop` ends the run. Closing `run.log` is the driver's: when `outcome` settles,
   * the tree is gone and the log is closed. Throws `ExecutorError` when the agent can't be started,
   * with the log closed and nothing left behind.
   */
  start(run: ExecutionRun, options: Cancellable): Promise<RunningExecution>
  /** Those of a person's arguments that its agent would not get, because they are not the person's to set. */
  refusedArgs(config: ArgsConfig): readonly string[]
  /** Whether and where its agent is installed on this machine; takes 5 s at most. */
  detect(options: Cancellable): Promise<DetectedAgent>
}
