import { and, asc, eq, isNull, lt } from 'drizzle-orm'
import type { Database } from './database-type.ts'
import { prepareAll, prepareGet, prepareUpsert } from './prepared-statements.ts'
import { attachments } from './schema/notes.ts'
import type { AttachmentQueries } from '../ports/attachment-queries.ts'

/** Creates the queries of attachments; their bytes are in the data folder. */
export function createAttachmentQueries(db: Database): AttachmentQueries {
  const ofContent = db.$client.prepare('SELECT 1 FROM attachments WHERE sha256 = ? LIMIT 1').pluck()
  const inOrder = [asc(attachments.created_at), asc(attachments.id)] as const
  return {
    get: prepareGet(db, attachments, attachments.id),
    put: prepareUpsert(db, attachments, attachments.id),
    delete: (id) => void db.delete(attachments).where(eq(attachments.id, id)).run(),
    ofTask: prepareAll(db, attachments, 'WHERE task_id = ? ORDER BY created_at, id'),
    unbound: (project_id) =>
      db
        .select()
        .from(attachments)
        .where(and(eq(attachments.project_id, project_id), isNull(attachments.task_id)))
        .orderBy(...inOrder)
        .all(),
    abandoned: (before) =>
      db
        .select()
        .from(attachments)
        .where(and(isNull(attachments.task_id), lt(attachments.created_at, before)))
        .orderBy(...inOrder)
        .all(),
    hasContent: (sha256) => ofContent.get(sha256) !== undefined,
  }
}
