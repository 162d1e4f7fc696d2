import type { ExecutionId, TaskId } from '../../src-shared/contract/ids.ts'
import type { FolderSize } from '../../src-shared/contract/workspaces.ts'
import type { RepositoryRunKind } from '../../src-shared/contract/projects.ts'
import type { ConflictHunk } from '../../src-shared/contract/conflicts.ts'
import type { BranchRef, MergeRequest } from './branch-ref.ts'
import type { DiffReader } from './diff-reader.ts'
import type { LineChanger } from './line-changer.ts'
import type { BranchUpdater } from './branch-updater.ts'
import type { Cancellable } from './cancellable.ts'
import type { ContainmentRules } from './containment.ts'
import type { OrphanStore, RescueStore } from './rescue-keeper.ts'
import type { TargetMover } from './target-mover.ts'

export type { BranchRef, MergeRequest } from './branch-ref.ts'

export interface RepositoryInfo {
  /** Absolute path of the main worktree's root (or of the bare repository). */
  readonly root: string
  readonly name: string
  readonly default_branch: string
  readonly branches: readonly string[]
}

export interface WorktreeRequest {
  readonly repo_path: string
  /** Whose rescues are made on the way; by default the folder's name is taken for it. */
  readonly task_id?: TaskId
  /** Where the worktree is or shall be. */
  readonly path: string
  readonly branch: string
  readonly base_branch: string
  /** `existing`: this task had a worktree before, so a missing branch means lost work, not a new start. */
  readonly expect: 'new' | 'existing'
  /** What `base_commit` was answered before: it is answered again instead of being worked out. */
  readonly known_base?: string
  readonly setup_commands: readonly string[]
  /** What they are held to; absent: they are not contained. */
  readonly containment?: ContainmentRules
  /** Told to the set-up commands' processes, so that those a crash leaves behind can be found (`Scripts.reap`). */
  readonly processMarker?: string
  readonly copy_files: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** A worktree for something that is tried out, and belongs to no task. */
export interface ScratchRequest {
  readonly repo_path: string
  /** The workspace root; the worktree lies below it, where neither orphans nor clean-up look. */
  readonly root: string
  /** The branch, or else the commit, whose files it shall have. */
  readonly at: string
  readonly copy_files: readonly string[]
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

/** Repositories inside a worktree that a merge would leave behind. */
export interface InnerRepositories {
  /** Paths in the worktree of the repositories that are not submodules. */
  readonly nested: readonly { readonly path: string; readonly has_remote: boolean }[]
  /** Submodules on a commit that none of their remotes has. */
  readonly unpushed: readonly string[]
}

/** All of a task's work: the commit that it lies on, and git's tree of it, committed or not. */
export interface Work {
  readonly head: string
  readonly tree: string
}

/** Settings of a repository that make git run a program, by their keys. */
export type ConfiguredPrograms = Readonly<Record<string, string>>

export interface RepositoryRun {
  readonly kind: RepositoryRunKind
  readonly what: string
}

/** A repository, by the git folder that its worktrees share, and the programs that it makes git run now. */
export interface RepositoryPrograms {
  readonly common: string
  readonly programs: ConfiguredPrograms
}

/** Hashes by path (relative to the common git folder) of what steers git in a repository beside its files. */
export type RepositoryState = Readonly<Record<string, string>>

export type MergeResult =
  /**
   * `commit` is what the target points at now. Merging again what is already in says `merged` too; `empty` says that
   * the branch never had a commit of its own.
   */
  | { readonly kind: 'merged'; readonly commit: string; readonly empty?: true }
  | { readonly kind: 'conflict'; readonly files: readonly string[]; readonly hunks: readonly ConflictHunk[] }
  | { readonly kind: 'target_dirty'; readonly files: readonly string[] }

export interface WorktreeLock {
  readonly execution_id: ExecutionId
  readonly pid: number | null
}

/** A folder that may become a project. */
export interface NearbyRepository {
  readonly path: string
  readonly name: string
  /** The time of the last work there. */
  readonly changed_at: string
}

export interface Workspaces extends DiffReader, LineChanger, RescueStore, OrphanStore, BranchUpdater, TargetMover {
  /** Throws `WorkspaceError` with code `not_a_git_repository` or `repository_has_no_commits`. */
  inspect(path: string, options: Cancellable): Promise<RepositoryInfo>
  /** Lists repositories in the usual places below a home folder, those worked in last first. Starts no git. */
  nearby(home: string, options: Cancellable): Promise<readonly NearbyRepository[]>
  /** Lists the paths that a branch of a repository tracks; none where there is no such branch. */
  trackedPaths(repo_path: string, branch: string, options: Cancellable): Promise<readonly string[]>
  /** Reads which programs a repository's own configuration makes git run. */
  programs(repo_path: string, options: Cancellable): Promise<RepositoryPrograms>
  /** Lists all that a repository's own configuration and hooks would make git run, for people. */
  runs(repo_path: string, options: Cancellable): Promise<readonly RepositoryRun[]>
  ensure(request: WorktreeRequest, options: Cancellable): Promise<WorktreeResult>
  /**
   * Makes a worktree at a branch or commit, on no branch, for `use` alone, and removes it afterwards whatever happens.
   * Its folder is named by a new UUID.
   * No set-up command runs; the repository stays as it is. Rejects as `use` does.
   */
  withScratch<T>(request: ScratchRequest, use: (path: string) => Promise<T>, options: Cancellable): Promise<T>
  /** Removes what killed services left of such worktrees below `root`, each when `before` has ended; their paths. */
  removeStaleScratch(root: string, before: (path: string) => Promise<void>): Promise<readonly string[]>
  exists(path: string): Promise<boolean>
  /** How large the files of a worktree are, those that git ignores too; null when it is not there. */
  size(path: string, options: Cancellable): Promise<FolderSize | null>
  status(ref: BranchRef & { readonly path: string }, options: Cancellable): Promise<WorktreeStatus>
  /** The commit that a worktree is on. */
  head(path: string, options: Cancellable): Promise<string>
  /** The work of a task as it is now; null when there is neither a worktree nor a branch. */
  work(ref: BranchRef, options: Cancellable): Promise<Work | null>
  innerRepositories(ref: BranchRef & { readonly path: string }, options: Cancellable): Promise<InnerRepositories>
  /** Makes plain files of nested repositories; their history is kept as rescues. */
  absorbNested(
    ref: BranchRef & { readonly path: string },
    task_id: TaskId,
    paths: readonly string[],
    options: Cancellable,
  ): Promise<void>
  /** Takes nested repositories out of the worktree; all of each is kept as a rescue. */
  removeNested(
    ref: BranchRef & { readonly path: string },
    task_id: TaskId,
    paths: readonly string[],
    options: Cancellable,
  ): Promise<void>
  /** The files that differ between a tree that was shown or judged and that of the work now, as people read them. */
  changedFiles(ref: BranchRef, before: string, now: string, options: Cancellable): Promise<readonly string[]>
  /**
   * Makes a commit of exactly this work, whatever is in the worktree by now, and moves the branch there if it is
   * still at `work.head`; the commit.
   */
  commitWork(ref: BranchRef, work: Work, message: string, options: Cancellable): Promise<string>
  /** Commits whatever is uncommitted (untracked too, ignored not); null when there was nothing. */
  commitAll(path: string, message: string, options: Cancellable): Promise<string | null>
  /** What steers git in the repository of a worktree: configuration, hooks, attributes, replaced objects. */
  repositoryState(path: string, options: Cancellable): Promise<RepositoryState>
  /** Where the branches of a worktree's repository are, by their names. */
  branches(path: string, options: Cancellable): Promise<Readonly<Record<string, string>>>
  /** Puts branches back that were moved onto commits made in this worktree since, but those that are checked out; their refs. */
  putBackBranches(
    path: string,
    before: Readonly<Record<string, string>>,
    options: Cancellable,
  ): Promise<readonly string[]>
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
  checkTarget(
    ref: BranchRef & Pick<MergeRequest, 'head'>,
    options: Cancellable,
  ): Promise<{ readonly dirty: readonly string[] }>
  merge(request: MergeRequest, options: Cancellable): Promise<MergeResult>
  /**
   * Finishes the merges that a killed service has left half done in a repository: where the branch had moved, the
   * checkouts that have it follow, and their indexes are no longer locked.
   */
  finishMerges(repo_path: string, options: Cancellable): Promise<void>
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
  /** Whether the worktree at `path` can go on with the repository, or does: after a move its links are to be mended. */
  isKnownTo(repo_path: string, path: string, options: Cancellable): Promise<boolean>
  /** Leads a worktree to its repository again that was moved; one that another repository has stays as it is. */
  relink(repo_path: string, path: string, options: Cancellable): Promise<void>
  /** Whether nothing on this machine uses any of these ports now. */
  arePortsFree(ports: readonly number[]): Promise<boolean>
  /** Those of the ports on which something answers now. */
  answeringPorts(ports: readonly number[]): Promise<readonly number[]>
  /** Directories below the workspace root that are none of `known`. */
  orphans(root: string, known: readonly string[]): Promise<readonly string[]>
}

/** A failure of git or the disk around a repository or worktree. */
export class WorkspaceError extends Error {
  override readonly name = 'WorkspaceError'
  readonly code:
    | 'not_a_git_repository'
    | 'repository_has_no_commits'
    /** It was moved or deleted since it was added. */
    | 'repository_missing'
    | 'setup_failed'
    | 'git_failed'
    | 'branch_missing'
    | 'outside_worktree'
    /** Files of the worktree still carry conflict markers. */
    | 'unfinished_merge'
    /** A merge was made, and the target does not hold it. */
    | 'unverified'
  /** What a person would run to put it right, in the folder that was given. */
  readonly command: string | undefined

  constructor(code: WorkspaceError['code'], message: string, options?: ErrorOptions & { readonly command?: string }) {
    super(message, options)
    this.code = code
    this.command = options?.command
  }
}
