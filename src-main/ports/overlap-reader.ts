import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { Cancellable } from './cancellable.ts'

/** A worktree whose work is compared with that of others. */
export interface ComparedWorktree {
  readonly task_id: TaskId
  readonly path: string
  /** What changed in it since the last reading: paths as bytes, one character each; null for anything. */
  readonly changed: readonly string[] | null
}

export interface OverlapRequest {
  /** Names what is compared with each other; what was read for it is kept until `forgetOverlaps`. */
  readonly group: string
  readonly repo_path: string
  readonly base_branch: string
  readonly worktrees: readonly ComparedWorktree[]
  /** Whether two tasks are compared at all. */
  readonly isCompared: (one: TaskId, other: TaskId) => boolean
}

export interface FoundOverlap {
  readonly a: TaskId
  readonly b: TaskId
  readonly kind: 'conflict' | 'same_lines_nearby'
  readonly files: readonly string[]
}

/** Finds out which worktrees of one repository and base would conflict, what is uncommitted included. */
export interface OverlapReader {
  /** One at a time per group. Writes nothing into the repository; a worktree that can't be read has no overlap. */
  readOverlaps(request: OverlapRequest, options: Cancellable): Promise<readonly FoundOverlap[]>
  /** Removes all that is kept for a group. */
  forgetOverlaps(group: string): Promise<void>
}
