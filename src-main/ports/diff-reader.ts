import type { DiffStat } from '../../src-shared/contract/tasks.ts'
import type { CommentAnchor, LineChange } from '../../src-shared/contract/comments.ts'
import type { BranchCommit, Diff, DiffFile, diffScopes } from '../../src-shared/contract/workspaces.ts'
import type { ChangedSource } from '../chapters/rules/facts.ts'
import type { FileHunks } from '../chapters/rules/hunk.ts'
import type { IgnoredPlace } from '../chapters/rules/needed-paths.ts'
import type { Cancellable } from './cancellable.ts'
import type { BranchRef } from './branch-ref.ts'

/** A changed file, without whether a reader has viewed it. */
export type FileChange = Omit<DiffFile, 'viewed'>
export type FileDiff = Omit<Diff, 'files'> & { readonly files: readonly FileChange[] }

/** Options of reading a diff. */
export interface DiffQuery {
  /** Treats lines that differ only in white space as equal and leaves out files without other changes. */
  readonly ignore_whitespace?: boolean
  /** The commit to compare with. */
  readonly since?: string | null
}

/** A commit's whole message. */
export interface BranchMessage {
  readonly id: string
  readonly message: string
}

/** What a reader of a diff may miss. */
export interface DiffFindings {
  /** Files that no diff can show as text, though their name, mode or earlier content is a text's. */
  readonly hidden_text: readonly string[]
  /**
   * Names of files and folders, some of them new, that a file system without case or with one form of accents takes for
   * one; at most 50.
   */
  readonly same_names: readonly string[]
  /** How many files the work deletes, if they are more than half and there were more than 20; else null. */
  readonly mass_deletion: { readonly deleted: number; readonly of: number } | null
}

/** Lines of a file in an earlier tree. */
export type LinePlace = Pick<CommentAnchor, 'path' | 'line' | 'start_line'>

/** All changes of a branch as hunks. */
export interface BranchHunks {
  /** The tree that the work is compared with. */
  readonly base_tree: string
  readonly tree: string
  readonly files: readonly FileHunks[]
}

/** The same with the contents of the changed files; without files if they are known already. */
export interface BranchSources extends Omit<BranchHunks, 'files'> {
  readonly files: readonly ChangedSource[] | null
}

/** Reads the changes of a task. */
export interface DiffReader {
  /**
   * Reads the diff; one read at a time per worktree. Callers that wait for the same diff share one result, which is
   * never older than their call.
   */
  diff(
    ref: BranchRef,
    scope: (typeof diffScopes)[number],
    file: string | null,
    options: Cancellable & DiffQuery,
  ): Promise<FileDiff>
  /** Returns the commits of a branch since it left its base, newest first. */
  commits(ref: BranchRef, options: Cancellable): Promise<readonly BranchCommit[]>
  /** Returns the changes of one commit against its first parent, or null if the branch has no such commit. */
  commitDiff(
    ref: BranchRef,
    commit: string,
    file: string | null,
    options: Cancellable & Pick<DiffQuery, 'ignore_whitespace'>,
  ): Promise<FileDiff | null>
  diffStat(ref: BranchRef, options: Cancellable): Promise<DiffStat>
  /** Returns all changes since the branch left its base, committed or not, as hunks; the order is git's. */
  hunks(ref: BranchRef, options: Cancellable): Promise<BranchHunks>
  /** Returns the same with what rules need of the files, unless `isKnown` says that the trees were read before. */
  sources(
    ref: BranchRef,
    isKnown: (trees: Pick<BranchSources, 'base_tree' | 'tree'>) => boolean,
    options: Cancellable,
  ): Promise<BranchSources>
  /** Returns which of these names the files of a tree have as words. */
  wordsIn(ref: BranchRef, tree: string, words: readonly string[], options: Cancellable): Promise<ReadonlySet<string>>
  /**
   * Returns of each list of possible paths what the worktree has of them, if that is only what git ignores: a file, or
   * one in a folder that is ignored as a whole.
   */
  onlyIgnored(
    ref: BranchRef,
    paths: readonly (readonly string[])[],
    options: Cancellable,
  ): Promise<readonly IgnoredPlace[]>
  /** Returns what a reader of all changes since the branch left its base may miss. */
  findings(ref: BranchRef, options: Cancellable): Promise<DiffFindings>
  /** Returns the messages of a branch's commits since it left its base, newest first, at most 500. */
  messages(ref: BranchRef, options: Cancellable): Promise<readonly BranchMessage[]>
  /**
   * Returns how lines changed since a tree of the work, in the order of the places: null for unchanged lines, and
   * null for all if that tree is gone.
   */
  lineChanges(
    ref: BranchRef,
    since: string,
    places: readonly LinePlace[],
    options: Cancellable,
  ): Promise<readonly (LineChange | null)[]>
  /**
   * Watches a worktree's files that are not ignored, its HEAD and its index. Changes after this resolves are not
   * missed; it may report without a change, and reports many changes at once as one.
   */
  watch(path: string, news: WatchEvent): Promise<WorktreeWatch>
}

export interface WatchEvent {
  /** `paths` is what changed, as bytes, one character each; null if unknown. */
  onChange(paths: readonly string[] | null): void
  /** Called when the worktree, and so the watch, is gone. */
  onEnd(): void
}

export interface WorktreeWatch {
  /** `looking`: the system can't watch so many folders, so the files are polled, rarely when nothing has changed for long. */
  readonly how: () => 'watching' | 'looking' | 'ended'
  /** Resolves when the watch has released everything. */
  close(): Promise<void>
}
