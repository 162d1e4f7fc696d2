import type { Cancellable } from './cancellable.ts'

/** The output of a program that was asked something. */
export interface ProgramAnswer {
  readonly exit_code: number
  readonly stdout: string
  readonly stderr: string
}

/** The programs where runs are, if that is not this machine. */
export interface AgentPrograms {
  /** Returns where the program with this name is; a path is returned as it is. null: it is not there. */
  find(name: string, options: Cancellable): Promise<string | null>
  /** Runs a program with arguments for a few seconds; null if it can't be run. */
  ask(path: string, args: readonly string[], options: Cancellable): Promise<ProgramAnswer | null>
}

/** Programs that each worktree can have others of. */
export interface PlacedPrograms extends AgentPrograms {
  in(worktree: string): AgentPrograms
}
