import {
  attachmentsNamedIn,
  maxAttachmentBytes,
  maxAttachments,
  maxAttachmentsBytes,
} from '../../src-shared/contract/attachment-text.ts'
import type { FileContent } from '../../src-shared/contract/attachments.ts'
import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { AttachmentId, ProjectId, TaskId } from '../../src-shared/contract/ids.ts'
import { attachmentName } from '../executions/rules/attachments.ts'
import { invalidInput, notFound } from '../domain/refusal.ts'
import type { Ground } from '../core/ground.ts'
import type { AttachmentFiles } from '../ports/attachment-files.ts'
import type { Tx } from '../core/event-feed.ts'
import { redactorOf } from '../core/redactor-of.ts'
import type { AttachmentRecord } from '../ports/attachment-queries.ts'
import type { Queries } from '../ports/store.ts'
import type { TaskRecord } from '../ports/task-queries.ts'

/** How long a file may wait for a task: longer than a person leaves a draft unfinished. */
const abandonedMs = 7 * 24 * 3_600_000
const sweepEveryMs = 3_600_000

interface NewAttachment {
  readonly project_id: ProjectId
  readonly task_id: TaskId | null
  readonly name: string
  readonly data_base64: string
  readonly created_by: string
}

export interface Attachments {
  /** Stores a file for a task, or for the first task that names it. */
  add(given: NewAttachment): Promise<AttachmentRecord | Refusal>
  content(record: AttachmentRecord): Promise<FileContent | Refusal>
  delete(record: AttachmentRecord): Promise<void>
  /** Gives the task those files that one of these texts names and no task has. */
  bind(
    tx: Tx,
    task: Pick<TaskRecord, 'id' | 'project_id'>,
    ...texts: readonly (string | null | undefined)[]
  ): Refusal | null
  /** Removes abandoned files and those of deleted tasks; at most once an hour. */
  sweep(): Promise<void>
}

export type AttachmentGround = Ground & { readonly attachmentFiles: AttachmentFiles }

export function createAttachments(context: AttachmentGround): Attachments {
  const { store, feed, attachmentFiles, newId } = context
  const { read } = store
  let swept: number | null = null
  return {
    add: async ({ data_base64, name, ...given }) => {
      if (base64Bytes(data_base64) > maxAttachmentBytes) return tooLarge
      if (data_base64 === '') return invalidInput('data_base64', 'The file is empty.')
      return await attachmentFiles.put(data_base64, (file) =>
        feed.commit((tx) => {
          const refusal = given.task_id === null ? null : checkTask(tx, given.project_id, given.task_id)
          if (refusal) return refusal
          const others =
            given.task_id === null ? tx.attachments.unbound(given.project_id) : tx.attachments.ofTask(given.task_id)
          const full = checkRoom(others, [file], given.task_id !== null)
          if (full) return full
          const record: AttachmentRecord = {
            ...given,
            ...file,
            id: newId() as AttachmentId,
            name: attachmentName(redactorOf(context, tx, given.project_id)(name)),
            created_at: tx.now(),
          }
          tx.attachments.put(record)
          return record
        }),
      )
    },
    content: async ({ sha256, name, media_type }) => {
      const data_base64 = await attachmentFiles.read(sha256)
      return data_base64 === null ? notFound('attachment') : { name, media_type, data_base64 }
    },
    delete: async ({ id, sha256 }) => {
      feed.commit((tx) => {
        tx.attachments.delete(id)
      })
      await forgetFiles(context, [sha256])
    },
    bind: (tx, task, ...texts) => {
      const found = [...new Set(texts.flatMap((text) => attachmentsNamedIn(text ?? '')))].flatMap(
        (id) => tx.attachments.get(id) ?? [],
      )
      const mine = found.filter((one) => one.task_id === null && one.project_id === task.project_id)
      if (mine.length === 0) return null
      const full = checkRoom(tx.attachments.ofTask(task.id), mine, true)
      if (full) return full
      for (const one of mine) tx.attachments.put({ ...one, task_id: task.id })
      return null
    },
    sweep: async () => {
      const now = context.clock.now()
      if (swept !== null && now - swept < sweepEveryMs) return
      swept = now
      const abandoned = read.attachments.abandoned(new Date(now - abandonedMs).toISOString())
      if (abandoned.length > 0) {
        feed.commit((tx) => {
          for (const { id } of abandoned) if (tx.attachments.get(id)?.task_id === null) tx.attachments.delete(id)
        })
      }
      await attachmentFiles.sweep((sha256) => read.attachments.hasContent(sha256))
    },
  }
}

/** Removes files that are no longer needed. The sweep removes what can't be removed now. */
export async function forgetFiles(context: AttachmentGround, sha256s: readonly string[]): Promise<void> {
  const { attachmentFiles, store, log } = context
  await attachmentFiles
    .removeUnneeded(sha256s, (sha256) => store.read.attachments.hasContent(sha256))
    .catch((error: unknown) => {
      log.warn({ err: error }, 'a file of a task could not be removed; the next sweep tries again')
    })
}

function checkTask(q: Queries, project_id: ProjectId, task_id: TaskId): Refusal | null {
  return q.tasks.get(task_id)?.project_id === project_id
    ? null
    : invalidInput('task_id', 'The task must be one of this project.')
}

const mb = (bytes: number) => `${Math.floor(bytes / (1024 * 1024))} MB`

const tooLarge: Refusal = {
  code: 'payload_too_large',
  message: `The file is over the limit of ${mb(maxAttachmentBytes)}. Link to it instead.`,
}

function checkRoom(
  others: readonly { readonly size: number }[],
  more: readonly { readonly size: number }[],
  isOfTask: boolean,
): Refusal | null {
  const all = [...others, ...more]
  const size = all.reduce((sum, one) => sum + one.size, 0)
  if (all.length <= maxAttachments && size <= maxAttachmentsBytes) return null
  const limit = `${maxAttachments} files and ${mb(maxAttachmentsBytes)}`
  return {
    code: 'payload_too_large',
    message: isOfTask
      ? `A task has at most ${limit}. Delete files that it no longer needs.`
      : `At most ${limit} can wait for a task in this project. Create the tasks first.`,
  }
}

function base64Bytes(data: string): number {
  return (data.length / 4) * 3 - (data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0)
}
