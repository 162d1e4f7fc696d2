import { and, desc, eq, isNull } from 'drizzle-orm'
import type { ExecutionId, TokenId, UserId } from '../../src-shared/contract/ids.ts'
import { isWriteFailure } from '../platform/process/write-failure.ts'
import type { Database } from './database-type.ts'
import { prepareGet } from './prepared-statements.ts'
import { cachedQuery } from './query-cache.ts'
import { apiTokens } from './schema/identity.ts'

export type ApiTokenRow = typeof apiTokens.$inferSelect

/** Inserts a long-lived token by its hash. */
export function insertApiToken(db: Database, token: ApiTokenRow): void {
  db.insert(apiTokens).values(token).run()
}

/** Returns the token with this ID, revoked or not. */
export function findApiToken(db: Database, id: TokenId): ApiTokenRow | null {
  return db.select().from(apiTokens).where(eq(apiTokens.id, id)).get() ?? null
}

/**
 * Prepares a query for the token with a hash, revoked or not. Prepared once, because every request with such a token
 * runs it.
 */
export function prepareFindApiTokenByHash(db: Database): (tokenHash: string) => ApiTokenRow | null {
  return cachedQuery(db, apiTokens, prepareGet(db, apiTokens, apiTokens.token_hash))
}

/** Lists a person's valid tokens, newest first. */
export function listApiTokens(db: Database, userId: UserId): ApiTokenRow[] {
  return db
    .select()
    .from(apiTokens)
    .where(and(eq(apiTokens.user_id, userId), isNull(apiTokens.revoked_at)))
    .orderBy(desc(apiTokens.id))
    .all()
}

/** Revokes one token. */
export function revokeApiToken(db: Database, id: TokenId, at: string): void {
  db.update(apiTokens)
    .set({ revoked_at: at })
    .where(and(eq(apiTokens.id, id), isNull(apiTokens.revoked_at)))
    .run()
}

/** Revokes the tokens bound to an execution. */
export function revokeExecutionTokens(db: Database, executionId: ExecutionId, at: string): void {
  db.update(apiTokens)
    .set({ revoked_at: at })
    .where(and(eq(apiTokens.execution_id, executionId), isNull(apiTokens.revoked_at)))
    .run()
}

/**
 * Prepares a query for whether an execution's token is valid: the execution is open, and its task still in the state
 * it was opened for. IDs grow with time.
 */
export function prepareIsAtWork(db: Database): (executionId: ExecutionId) => boolean {
  const find = db.$client.prepare<[string], unknown>(
    `SELECT 1 FROM executions e WHERE e.id = ? AND e.status IN ('queued', 'running')
     AND NOT EXISTS (SELECT 1 FROM transitions t WHERE t.task_id = e.task_id AND t.id > e.id)`,
  )
  return (executionId) => find.get(executionId) !== undefined
}

/** Saves when a token was last used. A failed write must not fail a read. */
export function touchApiToken(db: Database, id: TokenId, at: string): void {
  try {
    db.update(apiTokens).set({ last_used_at: at }).where(eq(apiTokens.id, id)).run()
  } catch (error) {
    if (!isWriteFailure(error)) throw error
  }
}
