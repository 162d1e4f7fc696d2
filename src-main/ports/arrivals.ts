import type { RescueReason } from '../../src-shared/contract/rescues.ts'
import type { Cancellable } from './cancellable.ts'
import type { JobGrant } from './job-access.ts'

/** Where a task's work elsewhere starts from. Commits are full object IDs of the repository. */
export interface ArrivalsStart {
  readonly repo_path: string
  /** The task's branch, as a short name. */
  readonly branch: string
  readonly base_commit: string
  /** Where the service has the branch; null: where it arrived last. */
  readonly branch_head: string | null
}

export interface ArrivedRef {
  /** The name below its prefix, as `heads/other` or `stash/1`. */
  readonly name: string
  readonly commit: string
}

/** What has arrived of a task's work. */
export interface Arrived {
  /** A bare git folder that has all of it; it borrows the rest from the repository. Only for reading. */
  readonly folder: string
  readonly base_commit: string
  /** null: the branch has not arrived yet. */
  readonly branch: string | null
  /** The uncommitted files, as a commit on top of the HEAD there. */
  readonly snapshot: string | null
  /** When a push was last accepted, as an ISO 8601 time; null: never. */
  readonly at: string | null
  /** Stash, other branches and nested repositories. */
  readonly others: readonly ArrivedRef[]
  /** What jobs brought after they had lost their lease; `{job}/…`. */
  readonly late: readonly ArrivedRef[]
  /** Heads of the branch that a later push replaced, by an amended commit or a rebase. */
  readonly replaced: readonly string[]
}

/** What can be told of a worktree elsewhere without looking there. */
interface LastArrival {
  /** As `Arrived.at`. */
  readonly at: string | null
  /** The files that were too large to come along with the last job, as paths in the worktree. */
  readonly left_there: readonly string[]
}

/** A state of a worktree, as commits. */
export interface LentState {
  readonly head: string
  /** null: nothing is uncommitted. */
  readonly snapshot: string | null
}

export type GitService = 'git-upload-pack' | 'git-receive-pack'

interface ServeOptions extends Cancellable {
  readonly grant: JobGrant
}

/** What a client sent is not git's protocol. */
export class GitProtocolError extends Error {
  override readonly name = 'GitProtocolError'
}

/** An object of Git LFS that a job may have. */
export interface LfsObject {
  readonly size: number
  readonly content: AsyncIterable<Uint8Array>
}

/**
 * The repositories in which work arrives that is done on other machines, one a task. Each borrows the objects of the
 * task's repository, which gets nothing of it until it is taken, but for objects of Git LFS: only a commit that names one
 * shows it. Failures are `WorkspaceError`s.
 */
export interface Arrivals {
  /** Makes the repository of a task, or brings its branch and base to where the service has them. */
  open(task_id: string, start: ArrivalsStart, options: Cancellable): Promise<Arrived>
  /** Returns null if nothing was opened for the task. */
  read(task_id: string, options: Cancellable): Promise<Arrived | null>
  /** Returns when work arrived last, and what did not come along; null if nothing was opened for the task. */
  look(task_id: string): Promise<LastArrival | null>
  /** Notes the files that were too large to come along. */
  noteLeft(task_id: string, paths: readonly string[]): Promise<void>
  /** Returns git's first answer to a client: the refs that it may see. */
  advertise(task_id: string, service: GitService, options: ServeOptions): Promise<Uint8Array>
  /**
   * Answers a request of `git fetch`. Rejects with `GitProtocolError` before the first bytes if it isn't one; ending
   * the iteration ends git.
   */
  sendPack(task_id: string, request: AsyncIterable<Uint8Array>, options: ServeOptions): AsyncIterable<Uint8Array>
  /** Takes a `git push`; the answer says of every ref whether it moved. Without all of the request, nothing moves. */
  receivePack(task_id: string, request: AsyncIterable<Uint8Array>, options: ServeOptions): AsyncIterable<Uint8Array>
  /** Returns an object of Git LFS that the base or a lent commit names; null if it is not there, or another's. */
  readLfs(task_id: string, oid: string, options: ServeOptions): Promise<LfsObject | null>
  /**
   * Takes an object of Git LFS into the task's repository. `refused`: its bytes are not those that its ID names, or more
   * than the job may send.
   */
  writeLfs(
    task_id: string,
    object: { readonly oid: string; readonly content: AsyncIterable<Uint8Array> },
    options: ServeOptions,
  ): Promise<'taken' | 'wrong' | 'too_large'>
  /** Lets jobs fetch what a folder of the task has: its HEAD and, as a snapshot, its uncommitted files. */
  lend(
    task_id: string,
    loan: { readonly name: string; readonly folder: string },
    options: Cancellable,
  ): Promise<LentState>
  /** Ends a loan. */
  takeBack(task_id: string, name: string, options: Cancellable): Promise<void>
  /** Calls `listener` after every push that was accepted; returns how to stop that. */
  onArrival(task_id: string, listener: () => void): () => void
  /** Brings a worktree to what has arrived; its branch must have it already. */
  bring(task_id: string, worktree: string, state: LentState, options: Cancellable): Promise<void>
  /** Keeps a commit that arrived, such as a judged snapshot, until the task's repository is removed. */
  keep(task_id: string, commit: string, options: Cancellable): Promise<void>
  /**
   * Brings a commit that arrived into the task's repository and moves the task's branch there from `from` (null: the
   * branch doesn't exist yet). `moved`: the branch is elsewhere, and stays.
   */
  takeBranch(
    task_id: string,
    move: { readonly commit: string; readonly from: string | null },
    options: Cancellable,
  ): Promise<'taken' | 'moved'>
  /** Keeps a commit that arrived as a rescue of the task's repository; returns its ref. */
  rescue(
    task_id: string,
    work: { readonly commit: string; readonly kind: 'uncommitted' | 'commits'; readonly reason: RescueReason },
    options: Cancellable,
  ): Promise<string>
  /** Returns the bytes on disk, without what is borrowed; 0 if nothing was opened. */
  size(task_id: string, options: Cancellable): Promise<number>
  /** Resolves once no push of a grant that has ended can move a ref any more. */
  settle(task_id: string): Promise<void>
  /** Ends what is being sent and received, and removes all of it. */
  remove(task_id: string): Promise<void>
  /** Removes what arrived of the tasks that `isGone` names. */
  removeWhere(isGone: (task_id: string) => boolean): Promise<void>
}
