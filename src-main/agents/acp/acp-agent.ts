import type { AgentRun, ExecutorDefinition } from '../definition.ts'
import type { AgentProgram, PrepareContext } from '../agent/agent-profile.ts'
import type { RefusedArgs } from '../agent/filter-args.ts'

/** An agent that speaks the Agent Client Protocol on stdin and stdout. */
export interface AcpAgent extends Pick<ExecutorDefinition, 'configNames'> {
  readonly program: AgentProgram
  /** Returns the arguments that start the protocol mode, around the agent's `own`. */
  readonly args: (
    run: AgentRun,
    own: readonly string[],
    place: PrepareContext,
  ) => readonly string[] | Promise<readonly string[]>
  readonly refusedArgs: RefusedArgs
  /** Time limit until a session exists, in ms; by default a minute. */
  readonly startMs?: number
  /** Variables for every run. */
  readonly defaultEnv?: Readonly<Record<string, string>>
  /** Variables that make the agent ask before it acts, if its permissions require that. */
  readonly asking?: Readonly<Record<string, string>>
  /** Model and effort are set over the protocol; otherwise by `args`. */
  readonly configuresViaProtocol: boolean
  /** The agent describes a tool call only when it requests permission, so it must keep asking. */
  readonly reportsToolsViaPermission?: boolean
  /** After it has answered a request to load a session, the agent keeps replaying its history. */
  readonly replaysAfterLoad?: boolean
  /** Its response to a prompt has the tokens of the last request only. `name`: what the program calls itself. */
  readonly tellsLastRequest?: (name: string) => boolean
  /** Recognizes final messages by which the program reports that its turn failed. */
  readonly isFailure?: (text: string) => boolean
  /** Recognizes message chunks that are notices of the program itself. */
  readonly isNotice?: (text: string) => boolean
}
