import type { Database } from './database-type.ts'
import { prepareAll, prepareGet, prepareUpsert } from './prepared-statements.ts'
import { comments } from './schema/notes.ts'
import type { CommentQueries } from '../ports/comment-queries.ts'

/** Creates the queries of comments. */
export function createCommentQueries(db: Database): CommentQueries {
  const thread = db.$client.prepare(
    `DELETE FROM comments WHERE id IN (
       WITH RECURSIVE thread(id) AS (
         SELECT ?
         UNION
         SELECT comments.id FROM thread JOIN comments ON comments.parent_id = thread.id
       )
       SELECT id FROM thread
     )`,
  )
  return {
    get: prepareGet(db, comments, comments.id),
    put: prepareUpsert(db, comments, comments.id),
    delete: (id) => void thread.run(id),
    byTask: prepareAll(db, comments, 'WHERE task_id = ? ORDER BY created_at, id'),
  }
}
