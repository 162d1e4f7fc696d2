import { and, eq } from 'drizzle-orm'
import type { RunnerId } from '../../src-shared/contract/ids.ts'
import { hereRunner } from '../../src-shared/contract/runners.ts'
import type { Database } from './database-type.ts'
import { prepareAll, prepareGet, prepareUpsert } from './prepared-statements.ts'
import { cachedQuery } from './query-cache.ts'
import { runners, runnerTrust } from './schema/runners.ts'
import type { RunnerQueries, RunnerTrustQueries } from '../ports/runner-queries.ts'

/** Creates the queries of runners, which every look for a task's place asks. */
export function createRunnerQueries(db: Database): RunnerQueries {
  const byId = prepareAll(db, runners, 'ORDER BY id')
  const rank = ({ id }: { readonly id: RunnerId }) => Number(id !== hereRunner)
  return {
    get: cachedQuery(db, runners, prepareGet(db, runners, runners.id)),
    list: cachedQuery(db, runners, () => byId().toSorted((a, b) => rank(a) - rank(b))),
    put: prepareUpsert(db, runners, runners.id),
    delete: (id) => void db.delete(runners).where(eq(runners.id, id)).run(),
  }
}

/** Creates the queries of what dev containers may reach, which each start of a run in one asks. */
export function createRunnerTrustQueries(db: Database): RunnerTrustQueries {
  const { runner_id, project_id, sha256 } = runnerTrust
  return {
    has: (content) => {
      const isIt = and(eq(runner_id, content.runner_id), eq(project_id, content.project_id), eq(sha256, content.sha256))
      return db.select({ sha256 }).from(runnerTrust).where(isIt).get() !== undefined
    },
    put: (record) => void db.insert(runnerTrust).values(record).onConflictDoNothing().run(),
  }
}
