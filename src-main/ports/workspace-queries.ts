import type { ProjectId, RunnerId, TaskId, WorkspaceId } from '../../src-shared/contract/ids.ts'
import type { ViewedContent, Workspace } from '../../src-shared/contract/workspaces.ts'
import type { ViewedHunk } from '../domain/review/viewed-marks.ts'
import type { StackPlace } from './stack-place.ts'
import type { TaskRecord } from './task-queries.ts'

export type WorkspaceRecord = Omit<Workspace, 'dirty' | 'ahead' | 'behind' | 'lock' | 'arrived_at' | 'left_there'> & {
  readonly repo_path: string
  readonly stack: StackPlace | null
  readonly created_at: string
}

export interface WorkspaceQueries {
  put(record: WorkspaceRecord): void
  byTask(task_id: TaskId): WorkspaceRecord | null
  delete(id: WorkspaceId): void
  /** Returns the workspaces whose clean-up is due at `now` (ISO); with null, all that are scheduled. */
  toClean(now: string | null): readonly WorkspaceRecord[]
  /** Returns the one whose worktree is at a path; null if there is none. */
  atPath(path: string): WorkspaceRecord | null
  byProject(project_id: ProjectId): readonly WorkspaceRecord[]
  /** Those with a worktree whose task is not archived. */
  present(): readonly { readonly workspace: WorkspaceRecord; readonly task: TaskRecord }[]
  /** Those with a worktree, or with a branch whose worktree is gone because something needs a person. */
  withWork(): readonly { readonly workspace: WorkspaceRecord; readonly task: TaskRecord }[]
  paths(): readonly string[]
  /** Returns the first port of each worktree's range. */
  portBases(): ReadonlySet<number>
  /** Has the worktrees of a removed runner use another one. */
  passOn(from: RunnerId, to: RunnerId): void
}

/** The files and hunks of a task's changes that readers have viewed. */
export interface ViewedFileQueries {
  of(task_id: TaskId, reader: string): readonly ViewedContent[]
  /** Replaces what the reader had viewed under this path. */
  put(task_id: TaskId, reader: string, file: ViewedContent): void
  remove(task_id: TaskId, reader: string, path: string): void
  hunksOf(task_id: TaskId, reader: string): readonly ViewedHunk[]
  putHunk(task_id: TaskId, reader: string, hunk: ViewedHunk): void
  removeHunk(task_id: TaskId, reader: string, id: string): void
  /** Transfers the marks of one reader to another. */
  passOn(from: string, to: string): void
}
