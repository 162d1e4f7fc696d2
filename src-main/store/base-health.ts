import { and, eq } from 'drizzle-orm'
import type { BaseHealthQueries } from '../ports/review-queries.ts'
import type { Database } from './database-type.ts'
import { baseHealth } from './schema/reviews.ts'

/** Creates the queries of base branches' health. */
export function createBaseHealthQueries(db: Database): BaseHealthQueries {
  return {
    get: (repo_id, branch) =>
      db
        .select()
        .from(baseHealth)
        .where(and(eq(baseHealth.repo_id, repo_id), eq(baseHealth.branch, branch)))
        .get() ?? null,
    put: (record) => {
      db.insert(baseHealth)
        .values(record)
        .onConflictDoUpdate({ target: [baseHealth.repo_id, baseHealth.branch], set: record })
        .run()
    },
    ofRepo: (repo_id) => db.select().from(baseHealth).where(eq(baseHealth.repo_id, repo_id)).all(),
  }
}
