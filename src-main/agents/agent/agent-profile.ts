import type { AgentNeeds } from '../definition.ts'
import type { ExecutorProfile } from '../../../src-shared/contract/executor-profiles.ts'
import type { TranscriptEntry } from '../../../src-shared/contract/executions.ts'
import type { ProgramAnswer } from '../../ports/agent-programs.ts'
import type { ExecutionOutcome } from '../../ports/executors.ts'
import type { AgentRun, ExecutorDefinition } from '../definition.ts'
import type { RefusedArgs } from './filter-args.ts'
import type { LineFilter } from './filter-lines.ts'

export type Variables = Readonly<Record<string, string | undefined>>

/** The name and location of an agent's program. */
export interface AgentProgram {
  readonly executor: ExecutorProfile
  readonly needs?: AgentNeeds
  /** Its name on PATH. */
  readonly program: string
  /** Installers' folders, since an app started from a desktop often has a short PATH. */
  readonly places?: (home: string) => readonly string[]
  /** The program next to an npm shim on Windows, below its `node_modules`; starting a shim takes a shell. */
  readonly windowsProgram?: readonly string[]
  readonly installHint: string
  /** How to sign in. */
  readonly signInHint: string
  /** Whether the agent is signed in, judged by files on this machine; null if they don't show it. */
  readonly signedIn?: (env: Variables, home: string) => boolean | null
  /**
   * The command by which the agent reports whether it is signed in, and the parser of its output, which returns null
   * if unclear.
   */
  readonly signInStatus?: {
    readonly args: readonly string[]
    readonly read: (answer: ProgramAnswer) => boolean | null
  }
}

/** Arguments and variables that a profile adds to a start. */
export interface PreparedLaunch {
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** The inputs of preparing a start. */
export interface PrepareContext {
  /** The agent's whole environment. */
  readonly env: Variables
  /** Receives resources to dispose of after the run. */
  readonly resources: AsyncDisposableStack
}

/** Receives the events of an agent session. */
export interface AgentSessionListener {
  readonly onEntry: (entry: TranscriptEntry) => void
  /** The time of entries, as ISO 8601. */
  readonly now: () => string
  /** Called with the session's ID, and again when it changes. */
  readonly onSession: (session_id: string) => void
  /** Called when a turn starts: the first one, or a queued one. */
  readonly onTurn: () => void
  /** Called when a turn has ended; `queued` more turns will follow without input. */
  readonly onTurnEnd: (queued: number) => void
  /** Called when the run can't succeed any more: it is stopped at once. */
  readonly giveUp?: () => void
  /** Sends bytes to the agent's stdin; rejects when it is closed. */
  readonly write: (text: string) => Promise<void>
  /** Ends the agent's input. */
  readonly closeInput: () => void
}

/** The result of a run, judged by the agent's messages and tool use. */
export type RunResult = Pick<
  ExecutionOutcome,
  'session_id' | 'usage' | 'conclusion' | 'message' | 'usage_limit' | 'unasked' | 'windows'
> & {
  /** The run failed, whatever its exit code. */
  readonly failed: boolean
}

/** One run's session with an agent: reads its stdout, writes its stdin. No output makes it throw. */
export interface AgentSession {
  push(bytes: Uint8Array): void
  /** Ends the input; an incomplete last line is read as it is. */
  end(): void
  /** Sends the prompt. */
  begin(prompt: string): void
  /** Sends a message during the run; null if this agent accepts only its prompt. */
  readonly send: ((text: string) => Promise<void>) | null
  /** Asks the agent to end its turn, so that it tells what the turn used; absent if it can't be asked. */
  readonly cancel?: () => void
  /** Returns the result; `stderr` is the end of the agent's stderr. */
  result(stderr: string): RunResult
  /** The part of stdout to keep in the raw log; absent: all of it. */
  readonly logged?: LineFilter
}

/** A coding agent with a command line: how to start it, talk to it and read its output. */
export interface AgentProfile extends Pick<ExecutorDefinition, 'configNames'> {
  readonly program: AgentProgram
  readonly refusedArgs: RefusedArgs
  /** Flags that are also refused if the agent must ask before it acts. */
  readonly refusedWhenAsking?: RefusedArgs['flags']
  /** Variables for every run; the person's settings for the agent override them. */
  readonly defaultEnv: () => Readonly<Record<string, string>>
  /** Variables of the person's environment to remove. */
  readonly unsetEnv?: readonly string[]
  /** Returns the arguments and variables for this run, around the person's `own` arguments. */
  prepare(run: AgentRun, own: readonly string[], place: PrepareContext): Promise<PreparedLaunch>
  createSession(run: AgentRun, listener: AgentSessionListener): AgentSession
  /** Time limit for the exit after the last turn, in ms. */
  readonly exitGraceMs: number
}
