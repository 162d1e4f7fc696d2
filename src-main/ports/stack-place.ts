import type { TaskId } from '../../src-shared/contract/ids.ts'

/** Where a branch lies in a stack. */
export interface StackPlace {
  /** The task on whose branch it lies; null: on the base branch, where it came after that task landed or was given up. */
  readonly on: TaskId | null
  /** The branch that the lowest of the stack lands on. */
  readonly base_branch: string
  /** The commit that its own did not fit on, and who was told of it. */
  readonly conflict: {
    readonly onto: string
    readonly files: readonly string[]
    readonly told: 'nobody' | 'coder' | 'person'
  } | null
  /** Why it could not be moved, as the task's annotation says. */
  readonly trouble: string | null
  /** A tree that came of moving it, which no check has seen. */
  readonly untested: string | null
  /** A move that has begun. */
  readonly moving: StackMove | null
}
export interface StackMove {
  readonly from: string
  readonly to: string
  /** The commit that its own lie on afterwards. */
  readonly onto: string
  readonly onto_branch: string
  readonly on: TaskId | null
  readonly tree_before: string
  readonly tree_after: string
}
