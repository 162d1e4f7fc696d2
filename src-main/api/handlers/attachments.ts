import { actorOf } from '../../domain/access/principal.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { findAttachment, unwrap } from '../find.ts'

type Names = 'attachments.create' | 'attachments.list' | 'attachments.download' | 'attachments.delete'

/** Files of tasks: uploaded, listed, downloaded and deleted. */
export function createAttachmentHandlers({ store, engine }: ApiParts): Handlers<Names> {
  const { read } = store
  const { attachments } = engine
  return {
    'attachments.create': async ({ task_id, ...file }, { principal }) =>
      unwrap(await attachments.add({ ...file, task_id: task_id ?? null, created_by: actorOf(principal) })),
    'attachments.list': ({ task_id }) => ({ items: [...read.attachments.ofTask(task_id)] }),
    'attachments.download': async ({ attachment_id }) =>
      unwrap(await attachments.content(findAttachment(read, attachment_id))),
    'attachments.delete': async ({ attachment_id }) => {
      await attachments.delete(findAttachment(read, attachment_id))
      return null
    },
  }
}
