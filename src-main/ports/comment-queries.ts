import type { Comment } from '../../src-shared/contract/comments.ts'
import type { CommentId, TaskId } from '../../src-shared/contract/ids.ts'

export type CommentRecord = Omit<Comment, 'state'>

export interface CommentQueries {
  get(id: CommentId): CommentRecord | null
  put(record: CommentRecord): void
  /** Deletes the comment with all replies. */
  delete(id: CommentId): void
  /** Oldest first. */
  byTask(task_id: TaskId): readonly CommentRecord[]
}
