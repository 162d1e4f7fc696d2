import type { Queries } from '../ports/store.ts'
import type { Database } from './database-type.ts'
import { prepareGet, prepareUpsert } from './prepared-statements.ts'
import { trustedRepositories } from './schema/reviews.ts'

export function createTrustedRepositoryQueries(db: Database): Queries['trusted_repositories'] {
  return {
    get: prepareGet(db, trustedRepositories, trustedRepositories.common),
    put: prepareUpsert(db, trustedRepositories, trustedRepositories.common),
  }
}
