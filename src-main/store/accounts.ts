import type { Queries } from '../ports/store.ts'
import type { Database } from './database-type.ts'
import { prepareAll, prepareGet, prepareUpsert } from './prepared-statements.ts'
import { accounts } from './schema/work.ts'

/** What providers have told of the accounts that agents use. */
export function createAccountQueries(db: Database): Queries['accounts'] {
  return {
    get: prepareGet(db, accounts, accounts.account),
    list: prepareAll(db, accounts, 'ORDER BY account'),
    put: prepareUpsert(db, accounts, accounts.account),
  }
}
