import type { Database } from './database-type.ts'
import { prepareAll, prepareGet, prepareUpsert } from './prepared-statements.ts'
import { jobs } from './schema/runners.ts'
import type { JobQueries } from '../ports/job-queries.ts'

export function createJobQueries(db: Database): JobQueries {
  const accepted = prepareAll(db, jobs, "WHERE state = 'accepted' ORDER BY id")
  const deleteOver = db.$client.prepare('DELETE FROM jobs WHERE over_at IS NOT NULL AND over_at < ?')
  return {
    get: prepareGet(db, jobs, jobs.id),
    accepted: () => accepted(),
    put: prepareUpsert(db, jobs, jobs.id, [jobs.state, jobs.over_at]),
    deleteOver: (before) => void deleteOver.run(before),
  }
}
