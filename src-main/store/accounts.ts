import type { Database } from './database-type.ts'
import { prepareAll, prepareGet, prepareUpsert } from './prepared-statements.ts'
import { accounts } from './schema/work.ts'
import type { AccountQueries } from '../ports/agent-queries.ts'

/** Creates the queries of provider accounts, as providers reported them. */
export function createAccountQueries(db: Database): AccountQueries {
  return {
    get: prepareGet(db, accounts, accounts.account),
    list: prepareAll(db, accounts, 'ORDER BY account'),
    put: prepareUpsert(db, accounts, accounts.account),
  }
}
