import { z } from 'zod'
import { maxAttachmentBytes } from '../attachment-text.ts'
import { Attachment, FileContent } from '../attachments.ts'
import { AttachmentId, ProjectId, TaskId } from '../ids.ts'
import { del, get, list, post } from '../operation.ts'

/** Base64 adds a third, and the name a little. */
const bodyBytes = Math.ceil(maxAttachmentBytes / 3) * 4 + 16 * 1024

export const attachmentsOperations = {
  'attachments.create': {
    ...post(
      '/projects/{project_id}/attachments',
      'member',
      'Upload a file (10 MB at most). It belongs to `task_id`, or to the first task whose description or comment names it (`attachment:<id>`); one that no task has for 7 days is deleted.',
      z.object({
        project_id: ProjectId,
        task_id: TaskId.optional(),
        name: z.string().min(1).max(1_000),
        data_base64: z.base64(),
      }),
      Attachment,
      201,
      ['payload_too_large', 'rate_limited'],
    ),
    bodyBytes,
  },
  'attachments.list': get(
    '/tasks/{task_id}/attachments',
    'member',
    'The files of a task, oldest first.',
    z.object({ task_id: TaskId }),
    list(Attachment),
  ),
  'attachments.download': {
    ...get(
      '/attachments/{attachment_id}/content',
      'member',
      'The bytes of a file. PNG, JPEG, GIF and WebP can be shown in place; everything else is a download.',
      z.object({ attachment_id: AttachmentId }),
      FileContent,
    ),
    responds: 'file',
  },
  'attachments.delete': del(
    '/attachments/{attachment_id}',
    'member_human',
    'Delete a file; texts that name it stay as they are.',
    z.object({ attachment_id: AttachmentId }),
  ),
} as const
