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
import type { OverlapReader } from './overlap-reader.ts'
import type { RepositoryState } from './repository-state.ts'
import type { TargetMover } from './target-mover.ts'
import type { WorkElsewhere } from './work-elsewhere.ts'

export type { BranchRef, MergeRequest } from './branch-ref.ts'
export type { RepositoryState } from './repository-state.ts'

export interface RepositoryInfo {
  /** Absolute path of the main worktree's root (or of the bare repository). */
  readonly root: string
  readonly name: string
  readonly default_branch: string
  readonly branches: readonly string[]
}

export interface WorktreeRequest {
  readonly repo_path: string
  /** The task that rescues made on the way belong to; by default the folder's name. */
  readonly task_id?: TaskId
  /** Path of the existing or new worktree. */
  readonly path: string
  readonly branch: string
  readonly base_branch: string
  /** `existing`: the task had a worktree before, so a missing branch means lost work. */
  readonly expect: 'new' | 'existing'
  /** An earlier `base_commit`, returned again without computing it. */
  readonly known_base?: string
  readonly setup_commands: readonly string[]
  /** Absent: the set-up commands are not contained. */
  readonly containment?: ContainmentRules
  /** Marks the processes of set-up commands, so that leftovers of a crash can be found (`Scripts.reap`). */
  readonly processMarker?: string
  readonly copy_files: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** A temporary worktree that belongs to no task. */
export interface ScratchRequest {
  readonly repo_path: string
  /** The workspace root; the worktree lies below it where neither orphan search nor clean-up looks. */
  readonly root: string
  /** The branch or commit to check out. */
  readonly at: string
  readonly copy_files: readonly string[]
}

export type WorktreeResult =
  | { readonly kind: 'ready'; readonly how: 'created' | 'reused' | 'recovered'; readonly base_commit: string }
  /** Folder and branch are both gone: a person must reset the task. */
  | { readonly kind: 'branch_gone' }

export interface WorktreeStatus {
  readonly dirty: boolean
  readonly ahead: number
  readonly behind: number
  readonly head: string
}

/** Repositories inside a worktree that a merge would not take along. */
export interface InnerRepositories {
  /** Paths in the worktree of repositories that are not submodules. */
  readonly nested: readonly { readonly path: string; readonly has_remote: boolean }[]
  /** Submodules at a commit that none of their remotes has. */
  readonly unpushed: readonly string[]
}

/** A task's complete work: its head commit, and a git tree of the files, committed or not. */
export interface Work {
  readonly head: string
  readonly tree: string
}

/** Settings of a repository that make git run a program, by key, and hashes of its hooks by `hook {name}`. */
export type ConfiguredPrograms = Readonly<Record<string, string>>

export interface RepositoryRun {
  readonly kind: RepositoryRunKind
  readonly what: string
}

/** A repository, identified by its common git folder, and the programs that its settings make git run. */
export interface RepositoryPrograms {
  readonly common: string
  readonly programs: ConfiguredPrograms
}

export type MergeResult =
  /**
   * `commit` is the target's commit now. A branch that was already merged gives `merged` too; `empty`: it never had
   * its own commit. `unsigned`: why it could not be signed.
   */
  | { readonly kind: 'merged'; readonly commit: string; readonly empty?: true; readonly unsigned?: string }
  | { readonly kind: 'conflict'; readonly files: readonly string[]; readonly hunks: readonly ConflictHunk[] }
  | { readonly kind: 'target_dirty'; readonly files: readonly string[] }

/** A change in a checkout of the user's that git was told not to show. */
export interface HiddenChange {
  readonly path: string
  readonly flag: 'skip-worktree' | 'assume-unchanged'
  readonly checkout: string
}

export interface WorktreeLock {
  readonly execution_id: ExecutionId
  readonly pid: number | null
}

/** A folder that could become a project. */
export interface NearbyRepository {
  readonly path: string
  readonly name: string
  /** Time of the last work there. */
  readonly changed_at: string
}

/**
 * Git and files of worktrees and repositories; nothing here knows a task's state. A caller holds no lock: methods that
 * write lock the worktree or the repository themselves. For example `merge({ repo_path, path, branch, base_branch, …
 * })` answers `conflict` with the files and has then changed nothing.
 */
export interface Workspaces
  extends DiffReader, LineChanger, RescueStore, OrphanStore, BranchUpdater, TargetMover, OverlapReader, WorkElsewhere {
  /** Throws `WorkspaceError` with code `not_a_git_repository` or `repository_has_no_commits`. */
  inspect(path: string, options: Cancellable): Promise<RepositoryInfo>
  /** Lists repositories in the usual places below a home folder, most recently used first. Starts no git. */
  nearby(home: string, options: Cancellable): Promise<readonly NearbyRepository[]>
  /** Lists the paths that a branch tracks; empty if there is no such branch. */
  trackedPaths(repo_path: string, branch: string, options: Cancellable): Promise<readonly string[]>
  /** Returns the URLs of a repository's remotes, to fetch from and to push to. */
  remoteUrls(repo_path: string, options: Cancellable): Promise<readonly string[]>
  /** Reads the programs that a repository's own settings make git run. */
  programs(repo_path: string, options: Cancellable): Promise<RepositoryPrograms>
  /** Lists everything that a repository's settings and hooks would make git run, for people. */
  runs(repo_path: string, options: Cancellable): Promise<readonly RepositoryRun[]>
  ensure(request: WorktreeRequest, options: Cancellable): Promise<WorktreeResult>
  /**
   * Creates a detached worktree at a branch or commit for `use` and removes it afterwards, even if `use` throws. Its
   * folder is named by a new UUID. Set-up commands don't run; the repository is unchanged. Rejects as `use` does.
   */
  withScratch<T>(request: ScratchRequest, use: (path: string) => Promise<T>, options: Cancellable): Promise<T>
  /**
   * Removes such worktrees that killed services left below `root`, each after `before` resolves; returns their paths.
   */
  removeStaleScratch(root: string, before: (path: string) => Promise<void>): Promise<readonly string[]>
  exists(path: string): Promise<boolean>
  /** Returns whether a folder is, as its files say, a worktree on this branch; false where git would have to be asked. */
  isOnBranch(path: string, branch: string, options: Cancellable): Promise<boolean>
  /** Returns the size of a worktree's files, ignored ones included, or null if it does not exist. */
  size(path: string, options: Cancellable): Promise<FolderSize | null>
  status(ref: BranchRef & { readonly path: string }, options: Cancellable): Promise<WorktreeStatus>
  /** Returns the commit that a worktree is on. */
  head(path: string, options: Cancellable): Promise<string>
  /** Returns the current work of a task, or null if it has neither worktree nor branch. */
  work(ref: BranchRef, options: Cancellable): Promise<Work | null>
  innerRepositories(ref: BranchRef & { readonly path: string }, options: Cancellable): Promise<InnerRepositories>
  /** Turns nested repositories into plain files; their history is rescued. */
  absorbNested(
    ref: BranchRef & { readonly path: string },
    task_id: TaskId,
    paths: readonly string[],
    options: Cancellable,
  ): Promise<void>
  /** Removes nested repositories from the worktree and rescues all of each. */
  removeNested(
    ref: BranchRef & { readonly path: string },
    task_id: TaskId,
    paths: readonly string[],
    options: Cancellable,
  ): Promise<void>
  /**
   * Returns the paths that differ between an earlier tree of the work and the current one, `now`. If the repository
   * lacks the earlier tree, compares with the diff that was shown of it; without such a diff, returns all files.
   */
  changedFiles(ref: BranchRef, before: string, now: string, options: Cancellable): Promise<readonly string[]>
  /**
   * Commits exactly this work, whatever the worktree holds by now, moves the branch there if it is still at
   * `work.head`, and returns the commit.
   */
  commitWork(ref: BranchRef, work: Work, message: string, options: Cancellable): Promise<string>
  /**
   * Commits all uncommitted files (untracked ones, not ignored ones) and returns the commit, or null if there was
   * nothing.
   */
  commitAll(path: string, message: string, options: Cancellable): Promise<string | null>
  /**
   * Hashes what controls git in a worktree's repository: configuration, hooks, attributes, alternates, replaced
   * objects. `refs`: with all refs and the stash list.
   */
  repositoryState(path: string, options: Cancellable & { readonly refs: boolean }): Promise<RepositoryState>
  /** Returns the commits of all branches of a worktree's repository, by name. */
  branches(path: string, options: Cancellable): Promise<Readonly<Record<string, string>>>
  /**
   * Moves branches back that were moved to commits made in this worktree since, except checked-out ones; returns
   * their refs.
   */
  putBackBranches(
    path: string,
    before: Readonly<Record<string, string>>,
    options: Cancellable,
  ): Promise<readonly string[]>
  /**
   * Discards uncommitted work (untracked files, not ignored ones) after saving it as `rescue` does; returns the ref
   * or null.
   */
  resetWorktree(path: string, task_id: TaskId, options: Cancellable): Promise<string | null>
  /** Removes worktree and branch after saving commits and uncommitted work under `refs/svc/rescue/{task}/{time}`. */
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
  /**
   * Saves uncommitted work under `refs/svc/rescue/{task}/{time}`; returns the ref, or null if everything is
   * committed.
   */
  rescue(path: string, task_id: TaskId, options: Cancellable): Promise<string | null>
  /** Returns whether the user's checkout could follow a merge now. */
  checkTarget(
    ref: BranchRef & Pick<MergeRequest, 'head'>,
    options: Cancellable,
  ): Promise<{ readonly dirty: readonly string[] }>
  /** Returns which of these files of the base's checkouts have changes that a flag hides from git. */
  hiddenChanges(
    ref: Pick<BranchRef, 'repo_path' | 'base_branch'>,
    files: readonly string[],
    options: Cancellable,
  ): Promise<readonly HiddenChange[]>
  merge(request: MergeRequest, options: Cancellable): Promise<MergeResult>
  /**
   * Finishes merges that a killed service left incomplete: if the branch had moved, its checkouts are updated and
   * their indexes unlocked.
   */
  finishMerges(repo_path: string, options: Cancellable): Promise<void>
  /**
   * Removes the worktree after rescuing uncommitted work; removes the branch only if asked to, and it is merged or
   * `force` is set.
   */
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
  /**
   * Acquires `.svc.lock`; returns the present holder if another live process has it, else null. Re-entrant per
   * execution.
   */
  lock(path: string, lock: WorktreeLock): Promise<WorktreeLock | null>
  unlock(path: string, execution_id: ExecutionId): Promise<void>
  readLock(path: string): Promise<WorktreeLock | null>
  /** Releases lock files below `root` whose process is gone; returns their paths. */
  releaseStaleLocks(root: string): Promise<readonly string[]>
  /** Returns whether the worktree at `path` belongs to the repository, or would after `relink` mends its links. */
  isKnownTo(repo_path: string, path: string, options: Cancellable): Promise<boolean>
  /** Links a worktree to its moved repository again; a worktree of another repository is left alone. */
  relink(repo_path: string, path: string, options: Cancellable): Promise<void>
  /** Returns whether nothing on this machine uses any of these ports. */
  arePortsFree(ports: readonly number[]): Promise<boolean>
  /** Returns the ports on which something answers. */
  answeringPorts(ports: readonly number[]): Promise<readonly number[]>
  /** Lists folders below the workspace root that are not in `known`. */
  orphans(root: string, known: readonly string[]): Promise<readonly string[]>
}

/** A failure of git or the disk around a repository or worktree. */
export class WorkspaceError extends Error {
  override readonly name = 'WorkspaceError'
  readonly code:
    | 'not_a_git_repository'
    | 'repository_has_no_commits'
    /** The repository was moved or deleted since it was added. */
    | 'repository_missing'
    | 'setup_failed'
    | 'git_failed'
    | 'branch_missing'
    | 'outside_worktree'
    /** Files of the worktree contain conflict markers. */
    | 'unfinished_merge'
    /** A merge was made, but the target does not contain it. */
    | 'unverified'
  /** The command that a person would run to fix it, in the given folder. */
  readonly command: string | undefined

  constructor(code: WorkspaceError['code'], message: string, options?: ErrorOptions & { readonly command?: string }) {
    super(message, options)
    this.code = code
    this.command = options?.command
  }
}
