import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { ReviewNote } from '../../src-shared/contract/reviews.ts'
import type { WorkPlace } from '../../src-shared/contract/tasks.ts'
import type { BranchRef } from './branch-ref.ts'
import type { Cancellable } from './cancellable.ts'
import type { RepositoryState } from './repository-state.ts'

type Worktree = BranchRef & { readonly path: string }
type NoteOf<K extends ReviewNote['kind']> = Extract<ReviewNote, { kind: K }>

/** Traces of a run in the repository besides the task's branch. */
export interface RunTraces {
  readonly notes: readonly (NoteOf<'base_moved'> | NoteOf<'refs_moved'> | NoteOf<'work_left'>)[]
  /** New entries of the stash list that were made in the worktree. */
  readonly places: readonly WorkPlace[]
}

export interface HeadFound {
  /** The work was on another branch, or on none, and is now on the task's. */
  readonly taken: NoteOf<'work_taken'> | null
  /** The work is there, and the task's branch can't simply be moved there. */
  readonly place: WorkPlace | null
}

/** The result of taking work: `conflict` leaves the work at `commit`, kept as a rescue. */
export type TakenWork =
  | { readonly kind: 'taken' }
  | { readonly kind: 'conflict'; readonly files: readonly string[]; readonly commit: string }

/** Looks for work where agents leave it besides the task's branch, and brings it in. */
export interface WorkElsewhere {
  /**
   * Compares the repository with its state before a run. Leaves out what Copse did, and what other checkouts show to
   * be theirs.
   */
  runTraces(ref: Worktree, before: RepositoryState, options: Cancellable): Promise<RunTraces>
  /**
   * Looks where the worktree's HEAD and its `.git` link lead. Moves the task's branch to commits that descend from it
   * and checks it out there, which touches no file.
   */
  settleHead(ref: Worktree, options: Cancellable): Promise<HeadFound>
  /** Returns those of the places that still hold work, and what contained runs left. */
  leftWork(ref: Worktree, known: readonly WorkPlace[], options: Cancellable): Promise<readonly WorkPlace[]>
  /** Returns the commits of an earlier base that the base no longer has, and that the branch would bring back. */
  rewrittenBase(ref: BranchRef, options: Cancellable): Promise<NoteOf<'base_rewritten'> | null>
  /** Brings the work of a place into the worktree, after a rescue. */
  takeWork(ref: Worktree, task_id: TaskId, place: WorkPlace, message: string, options: Cancellable): Promise<TakenWork>
  /** Keeps the work of a place as a rescue and brings the worktree back to the task's branch. */
  leaveWork(ref: Worktree, task_id: TaskId, place: WorkPlace, options: Cancellable): Promise<void>
  /** Keeps a commit that no branch has as a rescue of the task. */
  keepCommit(ref: Worktree, task_id: TaskId, commit: string, options: Cancellable): Promise<void>
  /** Brings a worktree and its branch to a commit. What they have and that commit hasn't is kept as a rescue first. */
  replaceWork(ref: Worktree, task_id: TaskId, commit: string, options: Cancellable): Promise<void>
  /** Lists ignored files, at most 50, that were written since then. */
  ignoredSince(path: string, since: number, options: Cancellable): Promise<readonly string[]>
}
