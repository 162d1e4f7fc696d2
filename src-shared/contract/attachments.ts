import { z } from 'zod'
import { AttachmentId, ProjectId, TaskId, Timestamp } from './ids.ts'

export const Attachment = z
  .object({
    id: AttachmentId,
    project_id: ProjectId,
    task_id: TaskId.nullable().describe('null until a description or a comment of a task names it.'),
    name: z.string(),
    media_type: z.string().describe('By the content: an image’s type, `application/pdf`, `text/plain` or octets.'),
    size: z.int().describe('In bytes.'),
    sha256: z.string(),
    created_by: z.string().describe('`user:<handle>`, `agent:<id>` or `operator`.'),
    created_at: Timestamp,
  })
  .meta({ id: 'Attachment' })
export type Attachment = z.infer<typeof Attachment>

/** A file in REST responses: its bytes, with name and type in the headers. */
export const FileContent = z.object({ name: z.string(), media_type: z.string(), data_base64: z.string() })
export type FileContent = z.infer<typeof FileContent>
