import { desc, eq, sql } from 'drizzle-orm'
import type { Queries } from '../engine/store-port.ts'
import type { Database } from './database-type.ts'
import { prepareUpsert } from './hot-statements.ts'
import { reviews } from './schema/work.ts'

export function createReviewQueries(db: Database): Queries['reviews'] {
  const byTask = db
    .select()
    .from(reviews)
    .where(eq(reviews.task_id, sql.placeholder('task_id')))
    .orderBy(desc(reviews.attempt_number))
    .prepare()
  const latest = db
    .select()
    .from(reviews)
    .where(eq(reviews.task_id, sql.placeholder('task_id')))
    .orderBy(desc(reviews.attempt_number))
    .limit(1)
    .prepare()
  return {
    put: prepareUpsert(db, reviews, reviews.id),
    get: (id) => db.select().from(reviews).where(eq(reviews.id, id)).get() ?? null,
    latest: (task_id) => latest.get({ task_id }) ?? null,
    byTask: (task_id) => byTask.all({ task_id }),
  }
}
