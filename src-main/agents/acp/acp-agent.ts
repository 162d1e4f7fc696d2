import type { AgentRun, ExecutorDefinition } from '../definition.ts'
import type { AgentProgram, PrepareContext } from '../agent/agent-profile.ts'
import type { RefusedArgs } from '../agent/filter-args.ts'

/** An agent that speaks the Agent Client Protocol on its stdin and stdout. */
export interface AcpAgent extends Pick<ExecutorDefinition, 'configNames'> {
  readonly program: AgentProgram
  /** The arguments that make it speak the protocol, around the agent's `own`. */
  readonly args: (
    run: AgentRun,
    own: readonly string[],
    place: PrepareContext,
  ) => readonly string[] | Promise<readonly string[]>
  readonly refusedArgs: RefusedArgs
  /** How long it may take until it has a session, in ms; by default a minute. */
  readonly startMs?: number
  /** Variables for every run. */
  readonly defaultEnv?: Readonly<Record<string, string>>
  /** Variables that make it ask before it acts, where that is its policy. */
  readonly asking?: Readonly<Record<string, string>>
  /** What a person chooses is asked for over the protocol; else `args` name it. */
  readonly configuresViaProtocol: boolean
  /** It tells what a tool does only where it asks for leave, so it shall go on asking. */
  readonly reportsToolsViaPermission?: boolean
  /** When it loads a session, it goes on telling the story of it after it has answered. */
  readonly replaysAfterLoad?: boolean
  /** Last words with which the program itself tells that its turn failed. */
  readonly isFailure?: (text: string) => boolean
  /** Chunks of words that are the program's own notices. */
  readonly isNotice?: (text: string) => boolean
}
