import type { AgentNeeds } from '../definition.ts'
import type { ExecutorProfile } from '../../../src-shared/contract/executor-profiles.ts'
import type { TranscriptEntry } from '../../../src-shared/contract/executions.ts'
import type { ExecutionOutcome } from '../../ports/executors.ts'
import type { AgentRun, ExecutorDefinition } from '../definition.ts'
import type { RefusedArgs } from './filter-args.ts'

export type Variables = Readonly<Record<string, string | undefined>>

/** What a program answered that was asked something. */
export interface ProgramAnswer {
  readonly exit_code: number
  readonly stdout: string
  readonly stderr: string
}

/** How a coding agent is called and where it lies. */
export interface AgentProgram {
  readonly executor: ExecutorProfile
  readonly needs?: AgentNeeds
  /** Its name on PATH. */
  readonly program: string
  /** Where its own installers put it. An app that a desktop started often has a short PATH. */
  readonly places?: (home: string) => readonly string[]
  /** The program beside an npm shim on Windows, below its `node_modules`: a shim takes a shell to start. */
  readonly windowsProgram?: readonly string[]
  readonly installHint: string
  /** What to do to sign in. */
  readonly signInHint: string
  /** Whether it is signed in, by what lies on this machine; null when that can't be known from here. */
  readonly signedIn?: (env: Variables, home: string) => boolean | null
  /** How it tells itself whether it is signed in, and how its answer is read; null where that says nothing. */
  readonly signInStatus?: {
    readonly args: readonly string[]
    readonly read: (answer: ProgramAnswer) => boolean | null
  }
}

/** What a profile adds to a start: arguments and variables. */
export interface PreparedLaunch {
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** What a start may use. */
export interface PrepareContext {
  /** The agent's whole environment. */
  readonly env: Variables
  /** What has to be removed after the run goes here. */
  readonly resources: AsyncDisposableStack
}

/** Told what an agent says and does. */
export interface AgentSessionListener {
  readonly onEntry: (entry: TranscriptEntry) => void
  /** The time of the entries, as ISO 8601. */
  readonly now: () => string
  /** The session has a name, or another one. */
  readonly onSession: (session_id: string) => void
  /** A turn runs: the first one, or one that was queued behind another. */
  readonly onTurn: () => void
  /** A turn has ended; `queued` more are known to follow without a word from us. */
  readonly onTurnEnd: (queued: number) => void
  /** Nothing will come of it any more: it is ended at once. */
  readonly giveUp?: () => void
  /** Sends bytes to the agent's stdin; rejects when it is closed. */
  readonly write: (text: string) => Promise<void>
  /** Nothing more will be said to the agent. */
  readonly closeInput: () => void
}

/** What a run comes to, by the agent's own words and deeds. */
export type RunResult = Pick<
  ExecutionOutcome,
  'session_id' | 'usage' | 'conclusion' | 'message' | 'usage_limit' | 'windows'
> & {
  /** It failed, whatever its exit code. */
  readonly failed: boolean
}

/** One run's conversation with an agent: its stdout in, our words out. Nothing that it prints makes it throw. */
export interface AgentSession {
  push(bytes: Uint8Array): void
  /** No more bytes come; a half line at the end is read as it is. */
  end(): void
  /** Hands over the prompt. */
  begin(prompt: string): void
  /** Says something while it works; null when this agent takes no more than its prompt. */
  readonly send: ((text: string) => Promise<void>) | null
  /** What it comes to; `stderr` is its end. */
  result(stderr: string): RunResult
}

/** A coding agent with a command line: how it is started, spoken to and read. */
export interface AgentProfile extends Pick<ExecutorDefinition, 'configNames'> {
  readonly program: AgentProgram
  readonly refusedArgs: RefusedArgs
  /** Flags that are refused, too, where it has to ask before it acts. */
  readonly refusedWhenAsking?: RefusedArgs['flags']
  /** Variables for every run, below the person's own settings for the agent. */
  readonly defaultEnv: () => Readonly<Record<string, string>>
  /** Variables of the person's environment that it must not see. */
  readonly unsetEnv?: readonly string[]
  /** The arguments for this run around the person's `own`. */
  prepare(run: AgentRun, own: readonly string[], place: PrepareContext): Promise<PreparedLaunch>
  createSession(run: AgentRun, listener: AgentSessionListener): AgentSession
  /** How long it may take to exit after its last turn before it is made to, in ms. */
  readonly exitGraceMs: number
}
