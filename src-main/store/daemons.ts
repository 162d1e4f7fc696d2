import { and, eq, isNull, sql } from 'drizzle-orm'
import type { DaemonId } from '../../src-shared/contract/ids.ts'
import type { Database } from './database-type.ts'
import { prepareGet, prepareUpsert } from './prepared-statements.ts'
import { cachedQuery } from './query-cache.ts'
import { daemons } from './schema/identity.ts'
import type { DaemonQueries } from '../ports/agent-queries.ts'

export function createDaemonQueries(db: Database): DaemonQueries {
  return {
    get: prepareGet(db, daemons, daemons.id),
    list: () => db.select().from(daemons).where(isNull(daemons.revoked_at)).orderBy(daemons.id).all(),
    put: prepareUpsert(db, daemons, daemons.id),
  }
}

/** Prepares a query for the daemon with a token, unless revoked; every report runs it. */
export function prepareFindDaemonByToken(db: Database): (token_hash: string) => DaemonId | null {
  const statement = db
    .select({ id: daemons.id })
    .from(daemons)
    .where(and(eq(daemons.token_hash, sql.placeholder('token_hash')), isNull(daemons.revoked_at)))
    .prepare()
  return cachedQuery(db, daemons, (token_hash: string) => statement.get({ token_hash })?.id ?? null)
}
