import type { BenchPage } from '../browser/board-page.ts'

/** A measured program: a service that was just started, with one project on a repository. */
export interface Side extends AsyncDisposable {
  /** Of the service's own process. */
  readonly pid: number
  /** When it listened, by `performance.now()`. */
  readonly listeningAt: number
  /** Creates a task, as its page does. */
  create(task: NewTask): Promise<string>
  /** Creates so many tasks in as few requests as it can. */
  createMany(tasks: readonly NewTask[]): Promise<void>
  /** Asks for what its page shows first of the board; returns the bytes that were sent. */
  board(): Promise<number>
  /** Asks for every task; returns the bytes that were sent. */
  everyTask(): Promise<number>
  /** Its page with the board: the address, an expression that holds once a card is drawn, and what lets a browser in. */
  readonly page: { readonly url: string; readonly ready: string; signIn(page: BenchPage): Promise<void> }
  /** Gives the task to Claude Code, as its page does. */
  start(task: string): Promise<void>
  /** The file of this name in the worktree of a task that has been started. */
  fileOf(task: string, name: string): Promise<string>
  /** Ends the work on the task and forgets it. */
  drop(task: string): Promise<void>
}

export interface NewTask {
  readonly title: string
  readonly prompt: string
}

/** Starts a program on a repository, with the environment in which its agents run. Resolves once it listens. */
export interface Contestant {
  readonly name: string
  open(repository: string, environment: Readonly<Record<string, string>>): Promise<Side>
  /** Creates a task from the command line; returns when that has ended. */
  readonly createByCommand: (side: Side, task: NewTask) => Promise<void>
}
