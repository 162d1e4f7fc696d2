import type { DiffStat } from '../../src-shared/contract/tasks.ts'
import type { CommentAnchor, LineChange } from '../../src-shared/contract/comments.ts'
import type { BranchCommit, Diff, DiffFile, diffScopes } from '../../src-shared/contract/workspaces.ts'
import type { Cancellable } from './cancellable.ts'
import type { BranchRef } from './branch-ref.ts'

/** A changed file, before it is known who has viewed it. */
export type FileChange = Omit<DiffFile, 'viewed'>
export type FileDiff = Omit<Diff, 'files'> & { readonly files: readonly FileChange[] }

/** How a diff is to be read. */
export interface DiffQuery {
  /** Lines that differ in white space only are the same, and files without others are left out. */
  readonly ignore_whitespace?: boolean
  /** Compare with this commit. */
  readonly since?: string | null
}

/** Lines of a file as it was. */
export type LinePlace = Pick<CommentAnchor, 'path' | 'line' | 'start_line'>

/** What the engine needs to show what a task changed. */
export interface DiffReader {
  /** One at a time per worktree; those who wait for the same share one answer, none older than their question. */
  diff(
    ref: BranchRef,
    scope: (typeof diffScopes)[number],
    file: string | null,
    options: Cancellable & DiffQuery,
  ): Promise<FileDiff>
  /** The commits of a branch since it left its base, newest first. */
  commits(ref: BranchRef, options: Cancellable): Promise<readonly BranchCommit[]>
  /** What one commit changed against its first parent; null where the branch has no such commit. */
  commitDiff(
    ref: BranchRef,
    commit: string,
    file: string | null,
    options: Cancellable & Pick<DiffQuery, 'ignore_whitespace'>,
  ): Promise<FileDiff | null>
  diffStat(ref: BranchRef, options: Cancellable): Promise<DiffStat>
  /**
   * How lines changed since a tree of the work, in the order of the places; null for unchanged lines, and
   * for all where that tree is gone.
   */
  lineChanges(
    ref: BranchRef,
    since: string,
    places: readonly LinePlace[],
    options: Cancellable,
  ): Promise<readonly (LineChange | null)[]>
  /**
   * Tells when files of a worktree change that are not ignored, or its HEAD or index do: what comes after this has
   * resolved is not missed. It may tell in vain; many changes at once are told once.
   */
  watch(path: string, news: WatchEvent): Promise<WorktreeWatch>
}

export interface WatchEvent {
  onChange(): void
  /** The worktree is gone, and with it the watch. */
  onEnd(): void
}

export interface WorktreeWatch {
  /** `looking`: the system does not let so many folders be watched, so the files are looked at every few seconds. */
  readonly how: () => 'watching' | 'looking' | 'ended'
  /** Settles when nothing of it is left. */
  close(): Promise<void>
}
