import { and, desc, eq, isNull } from 'drizzle-orm'
import type { ExecutionId, TokenId, UserId } from '../../src-shared/contract/ids.ts'
import { isWriteFailure } from '../platform/process/write-failure.ts'
import type { Database } from './database-type.ts'
import { prepareGet } from './prepared-statements.ts'
import { cachedQuery } from './query-cache.ts'
import { apiTokens } from './schema/identity.ts'

export type ApiTokenRow = typeof apiTokens.$inferSelect

/** Adds a long-lived token by its hash. */
export function insertApiToken(db: Database, token: ApiTokenRow): void {
  db.insert(apiTokens).values(token).run()
}

/** The token with this id, revoked or not. */
export function findApiToken(db: Database, id: TokenId): ApiTokenRow | null {
  return db.select().from(apiTokens).where(eq(apiTokens.id, id)).get() ?? null
}

/** Finds the token with a hash, revoked or not; prepared once, for every request with such a token asks it. */
export function prepareFindApiTokenByHash(db: Database): (tokenHash: string) => ApiTokenRow | null {
  return cachedQuery(db, prepareGet(db, apiTokens, apiTokens.token_hash))
}

/** A person's own tokens that still work, newest first. */
export function listApiTokens(db: Database, userId: UserId): ApiTokenRow[] {
  return db
    .select()
    .from(apiTokens)
    .where(and(eq(apiTokens.user_id, userId), isNull(apiTokens.revoked_at)))
    .orderBy(desc(apiTokens.id))
    .all()
}

/** Makes one token useless from now on. */
export function revokeApiToken(db: Database, id: TokenId, at: string): void {
  db.update(apiTokens)
    .set({ revoked_at: at })
    .where(and(eq(apiTokens.id, id), isNull(apiTokens.revoked_at)))
    .run()
}

/** Makes the tokens that are bound to an execution useless from now on. */
export function revokeExecutionTokens(db: Database, executionId: ExecutionId, at: string): void {
  db.update(apiTokens)
    .set({ revoked_at: at })
    .where(and(eq(apiTokens.execution_id, executionId), isNull(apiTokens.revoked_at)))
    .run()
}

/**
 * Whether an execution has not ended and its task is still in the state that it was opened for: whether its token works.
 * Ids grow with time.
 */
export function prepareIsAtWork(db: Database): (executionId: ExecutionId) => boolean {
  const find = db.$client.prepare<[string], unknown>(
    `SELECT 1 FROM executions e WHERE e.id = ? AND e.status IN ('queued', 'running')
     AND NOT EXISTS (SELECT 1 FROM transitions t WHERE t.task_id = e.task_id AND t.id > e.id)`,
  )
  return (executionId) => find.get(executionId) !== undefined
}

/** Notes when a token was last of use. Reading goes on while nothing can be written. */
export function touchApiToken(db: Database, id: TokenId, at: string): void {
  try {
    db.update(apiTokens).set({ last_used_at: at }).where(eq(apiTokens.id, id)).run()
  } catch (error) {
    if (!isWriteFailure(error)) throw error
  }
}
