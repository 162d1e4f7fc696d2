import type { Attachment } from '../../src-shared/contract/attachments.ts'
import type { AttachmentId, ProjectId, TaskId } from '../../src-shared/contract/ids.ts'

export type AttachmentRecord = Attachment

/** Records of the files that people added to tasks; their bytes are stored beside the database. */
export interface AttachmentQueries {
  get(id: AttachmentId): AttachmentRecord | null
  put(record: AttachmentRecord): void
  delete(id: AttachmentId): void
  /** Oldest first. */
  ofTask(task_id: TaskId): readonly AttachmentRecord[]
  /** Returns a project's attachments that belong to no task. */
  unbound(project_id: ProjectId): readonly AttachmentRecord[]
  /** Returns attachments without a task that are older than this time, of all projects. */
  abandoned(before: string): readonly AttachmentRecord[]
  /** Returns whether an attachment has this content. */
  hasContent(sha256: string): boolean
}
