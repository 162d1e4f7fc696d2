import { eq } from 'drizzle-orm'
import type { RunnerId } from '../../src-shared/contract/ids.ts'
import { hereRunner } from '../../src-shared/contract/runners.ts'
import type { Queries } from '../ports/store.ts'
import type { Database } from './database-type.ts'
import { prepareAll, prepareGet, prepareUpsert } from './prepared-statements.ts'
import { cachedQuery } from './query-cache.ts'
import { runners } from './schema/runners.ts'

/** Creates the queries of runners, which every look for a task's place asks. */
export function createRunnerQueries(db: Database): Queries['runners'] {
  const byId = prepareAll(db, runners, 'ORDER BY id')
  const rank = ({ id }: { readonly id: RunnerId }) => Number(id !== hereRunner)
  return {
    get: cachedQuery(db, runners, prepareGet(db, runners, runners.id)),
    list: cachedQuery(db, runners, () => byId().toSorted((a, b) => rank(a) - rank(b))),
    put: prepareUpsert(db, runners, runners.id),
    delete: (id) => void db.delete(runners).where(eq(runners.id, id)).run(),
  }
}
