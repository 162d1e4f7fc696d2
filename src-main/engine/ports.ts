import type { Principal } from '../domain/access/principal.ts'
import type { TranscriptEntry, Usage, LogFile, LogSlice } from '../../src-shared/contract/executions.ts'
import type { TranscriptItem } from '../../src-shared/contract/events.ts'
import type { ExecutionId, ProjectId, TaskId, AgentId } from '../../src-shared/contract/ids.ts'
import type { AgentConfig, DetectedAgent, ExecutorProfile } from '../../src-shared/contract/projects.ts'
import type { Diff, diffScopes } from '../../src-shared/contract/workspaces.ts'
import type { DiffStat } from '../../src-shared/contract/tasks.ts'

/**
 * What the engine needs of the outside. The adapters (`workspaces`, `executors`, `hooks`, `logs`,
 * `identity`) implement these; tests may bring fakes that pass the same contract suites.
 */

export interface Cancellable {
  readonly signal: AbortSignal
}

// ---- git ---------------------------------------------------------------------------------------

export interface RepositoryInfo {
  /** Absolute path of the main worktree's root (or of the bare repository). */
  readonly root: string
  readonly name: string
  readonly default_branch: string
  readonly branches: readonly string[]
}

export interface WorktreeRequest {
  readonly repo_path: string
  /** Where the worktree is or shall be. */
  readonly path: string
  readonly branch: string
  readonly base_branch: string
  /** `existing`: this task had a worktree before, so a missing branch means lost work, not a new start. */
  readonly expect: 'new' | 'existing'
  /** What `base_commit` was answered before: it is answered again instead of being worked out. */
  readonly known_base?: string
  readonly setup_commands: readonly string[]
  /** Told to the set-up commands' processes, so that those a crash leaves behind can be found (`Scripts.reap`). */
  readonly mark?: string
  readonly copy_files: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

export type WorktreeResult =
  | { readonly kind: 'ready'; readonly how: 'created' | 'reused' | 'recovered'; readonly base_commit: string }
  /** Directory and branch are both gone: the person must reset. */
  | { readonly kind: 'branch_gone' }

export interface WorktreeStatus {
  readonly dirty: boolean
  readonly ahead: number
  readonly behind: number
  readonly head: string
}

export interface BranchRef {
  readonly repo_path: string
  /** null when the worktree is gone; the branch in the repository is used then. */
  readonly path: string | null
  readonly branch: string
  readonly base_branch: string
  readonly base_commit: string | null
}

export interface MergeRequest extends BranchRef {
  readonly strategy: 'merge' | 'squash' | 'rebase'
  /** Message of the merge (or squash) commit, trailers included. */
  readonly message: string
}

export type MergeResult =
  /** `commit` is what the target points at now. Merging again what is already in says `merged` too. */
  | { readonly kind: 'merged'; readonly commit: string }
  | { readonly kind: 'conflict'; readonly files: readonly string[] }
  | { readonly kind: 'target_dirty'; readonly files: readonly string[] }

export interface WorktreeLock {
  readonly execution_id: ExecutionId
  readonly pid: number | null
}

export interface Workspaces {
  /** Throws `WorkspaceError` with code `not_a_git_repository` or `repository_has_no_commits`. */
  inspect(path: string, options: Cancellable): Promise<RepositoryInfo>
  ensure(request: WorktreeRequest, options: Cancellable): Promise<WorktreeResult>
  exists(path: string): Promise<boolean>
  status(ref: BranchRef & { readonly path: string }, options: Cancellable): Promise<WorktreeStatus>
  /** The commit that a worktree is on. */
  head(path: string, options: Cancellable): Promise<string>
  diff(ref: BranchRef, scope: (typeof diffScopes)[number], file: string | null, options: Cancellable): Promise<Diff>
  diffStat(ref: BranchRef, options: Cancellable): Promise<DiffStat>
  /** Commits whatever is uncommitted (untracked too, ignored not); null when there was nothing. */
  commitAll(path: string, message: string, options: Cancellable): Promise<string | null>
  /** Throws away what is uncommitted (untracked too, ignored not), after keeping it as `rescue` does; the ref or null. */
  resetWorktree(path: string, task_id: TaskId, options: Cancellable): Promise<string | null>
  /** Removes worktree and branch; commits and uncommitted work are kept under `refs/svc/rescue/{task}/{time}`. */
  discard(
    request: {
      readonly repo_path: string
      readonly path: string
      readonly branch: string
      readonly base_commit: string | null
      readonly task_id: TaskId
    },
    options: Cancellable,
  ): Promise<string | null>
  /** Keeps what is uncommitted under `refs/svc/rescue/{task}/{time}`; the ref, or null when all is committed. */
  rescue(path: string, task_id: TaskId, options: Cancellable): Promise<string | null>
  /** Whether a merge could follow the user's checkout now. */
  checkTarget(ref: BranchRef, options: Cancellable): Promise<{ readonly dirty: readonly string[] }>
  merge(request: MergeRequest, options: Cancellable): Promise<MergeResult>
  /** Removes the worktree (rescuing what is uncommitted first), and the branch only when told and merged or forced. */
  remove(
    request: {
      readonly repo_path: string
      readonly path: string
      readonly task_id: TaskId
      readonly branch?: string
      readonly delete_branch?: boolean
    },
    options: Cancellable,
  ): Promise<void>
  /** Takes `.svc.lock`; the present holder when somebody else alive has it, else null. Re-entrant per execution. */
  lock(path: string, lock: WorktreeLock): Promise<WorktreeLock | null>
  unlock(path: string, execution_id: ExecutionId): Promise<void>
  readLock(path: string): Promise<WorktreeLock | null>
  /** Releases lock files below `root` whose process is gone; the paths that were released. */
  releaseStaleLocks(root: string): Promise<readonly string[]>
  /** Directories below the workspace root that are none of `known`. */
  orphans(root: string, known: readonly string[]): Promise<readonly string[]>
}

/** A failure of git or the disk around a repository or worktree. */
export class WorkspaceError extends Error {
  override readonly name = 'WorkspaceError'
  readonly code:
    'not_a_git_repository' | 'repository_has_no_commits' | 'setup_failed' | 'git_failed' | 'outside_worktree'

  constructor(code: WorkspaceError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

// ---- agents ------------------------------------------------------------------------------------

export interface ExecutionRun {
  readonly execution_id: ExecutionId
  readonly task_id: TaskId
  readonly cwd: string
  readonly prompt: string
  /** The agent's configuration with the claim's overrides laid over it. */
  readonly config: AgentConfig
  /** Added to the inherited environment: the `SVC_` variables with the bound token. */
  readonly env: Readonly<Record<string, string>>
  /** The MCP endpoint for this run; null when HTTP is off. */
  readonly mcp: { readonly url: string; readonly token: string } | null
  /** The agent's session to resume, when its profile can. */
  readonly session_id: string | null
  readonly timeout_seconds: number | null
  readonly log: AgentLog
  /** Told as soon as the agent names its session: after a crash it can still be resumed. */
  readonly onSession?: (session_id: string) => void
}

/** Tells a process from a later one with the same pid. */
export interface ProcessIdentity {
  readonly pid: number
  /** Start time as the system counts it; opaque. */
  readonly started: string
}

export interface ExecutionOutcome {
  readonly ended: 'exited' | 'stopped' | 'timed_out' | 'failed_to_start'
  readonly exit_code: number | null
  readonly session_id: string | null
  readonly usage: Usage | null
  /** What its words and deeds show: `silent` said nothing at all. */
  readonly conclusion: 'done' | 'question' | 'limit' | 'silent'
  /** A sentence for people: its last words, or why it failed. */
  readonly message: string | null
}

export interface RunningExecution {
  readonly process: ProcessIdentity
  /** Never rejects; settles when the whole process tree is gone and the log is complete. */
  readonly outcome: Promise<ExecutionOutcome>
  /** TERM to the tree, KILL after 10 s; settles when it is gone. */
  stop(): Promise<void>
  input(data: string): Promise<void>
}

export interface Executors {
  /** `elsewhere`: the agent runs on its own, claims, heartbeats and finishes over the API. */
  hosting(profile: ExecutorProfile): 'here' | 'elsewhere'
  /** Throws `ExecutorError` when the agent can't be started at all. */
  start(profile: ExecutorProfile, run: ExecutionRun, options: Cancellable): Promise<RunningExecution>
  /** Ends what a killed service left running; harmless when the pid is somebody else's by now. */
  reap(process: ProcessIdentity, execution_id: ExecutionId): Promise<void>
  detect(options: Cancellable): Promise<readonly DetectedAgent[]>
}

export class ExecutorError extends Error {
  override readonly name = 'ExecutorError'
  /** `input_closed`: it runs, or did, and takes no more input. */
  readonly code: 'not_installed' | 'not_configured' | 'spawn_failed' | 'input_closed'

  constructor(code: ExecutorError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

// ---- scripts and logs --------------------------------------------------------------------------

export interface ScriptRun {
  readonly command: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly timeout_ms: number
  readonly log: LogWriter
  /** A UUID by which a later service finds what a killed one left. */
  readonly mark?: string
}

export interface ScriptResult {
  /** 124 when it ran out of time, 130 when it was cancelled. */
  readonly exit_code: number
  readonly timed_out: boolean
  readonly duration_ms: number
  /** The last 10 KB of stdout and stderr together, whole characters only. */
  readonly output_tail: string
}

export interface Scripts {
  /** Runs a shell command in its own process group; no process of it is left when it settles. */
  run(script: ScriptRun, options: Cancellable): Promise<ScriptResult>
  /** Ends what a killed service left running of the scripts with this mark. */
  reap(mark: string): Promise<void>
}

export interface LogWriter {
  /** Redacts and appends. Resolves when the writer can take more. */
  write(bytes: Uint8Array | string): Promise<void>
  close(): Promise<void>
}

export interface AgentLog {
  /** Adds a readable entry (redacted) to `agent-{execution}.jsonl`. */
  entry(entry: TranscriptEntry): void
  /** Adds raw bytes (redacted) to `agent-{execution}.raw.log`. */
  raw(bytes: Uint8Array): Promise<void>
  close(): Promise<void>
}

export interface Logs {
  openAgent(run: {
    readonly project_id: ProjectId
    readonly task_id: TaskId
    readonly execution_id: ExecutionId
    readonly redact: (text: string) => string
    readonly onEntry?: (entry: TranscriptEntry) => void
  }): Promise<AgentLog>
  openFile(task_id: TaskId, name: string, redact: (text: string) => string): Promise<LogWriter>
  /** Writes what the task's agents are to know into a file beside the logs; its path. */
  writeKnowledge(task_id: TaskId, text: string): Promise<string>
  list(task_id: TaskId, execution_id?: ExecutionId): Promise<readonly LogFile[]>
  /** null when there is no such log. */
  read(task_id: TaskId, name: string, offset: number, limit: number): Promise<LogSlice | null>
  /** The entries from line `from` on: those on disk, then live ones, then `end` once the log is closed. */
  follow(task_id: TaskId, execution_id: ExecutionId, from: number, options: Cancellable): AsyncIterable<TranscriptItem>
}

// ---- identity ----------------------------------------------------------------------------------

export interface AgentTokens {
  /** A token that works for this execution only, until `revoke`. */
  mint(bound: {
    readonly agent_id: AgentId
    readonly project_id: ProjectId
    readonly task_id: TaskId
    readonly execution_id: ExecutionId
  }): string
  revoke(execution_id: ExecutionId): void
}

// ---- small things ------------------------------------------------------------------------------

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
}

export type { Principal }
