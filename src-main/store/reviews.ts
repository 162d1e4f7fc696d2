import type { Database } from './database-type.ts'
import { prepareAll, prepareGet, prepareUpsert } from './prepared-statements.ts'
import { reviews } from './schema/reviews.ts'
import type { ReviewQueries } from '../ports/review-queries.ts'

export function createReviewQueries(db: Database): ReviewQueries {
  const latest = prepareAll(db, reviews, 'WHERE task_id = ? ORDER BY attempt_number DESC LIMIT 1')
  return {
    put: prepareUpsert(db, reviews, reviews.id),
    get: prepareGet(db, reviews, reviews.id),
    latest: (task_id) => latest(task_id)[0] ?? null,
    byTask: prepareAll(db, reviews, 'WHERE task_id = ? ORDER BY attempt_number DESC'),
  }
}
