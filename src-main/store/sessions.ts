import { and, desc, eq, lte, ne } from 'drizzle-orm'
import type { SessionId, UserId } from '../../src-shared/contract/ids.ts'
import type { Database } from './database-type.ts'
import { prepareGet } from './prepared-statements.ts'
import { cachedQuery } from './query-cache.ts'
import { refreshTokens, sessions } from './schema/identity.ts'

export type SessionRow = typeof sessions.$inferSelect

/** Inserts or updates a session. */
export function putSession(db: Database, session: SessionRow): void {
  const { id: _, ...set } = session
  db.insert(sessions).values(session).onConflictDoUpdate({ target: sessions.id, set }).run()
}

/** Prepares a query for a session; every request with an access token runs it. */
export function prepareFindSession(db: Database): (id: SessionId) => SessionRow | null {
  return cachedQuery(db, sessions, prepareGet(db, sessions, sessions.id))
}

/** Lists a person's sessions, newest first. */
export function listSessions(db: Database, userId: UserId): SessionRow[] {
  return db.select().from(sessions).where(eq(sessions.user_id, userId)).orderBy(desc(sessions.id)).all()
}

/** Deletes a session with its refresh tokens. */
export function deleteSession(db: Database, id: SessionId): void {
  db.delete(refreshTokens).where(eq(refreshTokens.family_id, id)).run()
  db.delete(sessions).where(eq(sessions.id, id)).run()
}

/** Deletes all of a person's sessions, or all but one. */
export function deleteSessionsOf(db: Database, userId: UserId, but: SessionId | null): void {
  const [tokens, rows] = [eq(refreshTokens.user_id, userId), eq(sessions.user_id, userId)]
  db.delete(refreshTokens)
    .where(but === null ? tokens : and(tokens, ne(refreshTokens.family_id, but)))
    .run()
  db.delete(sessions)
    .where(but === null ? rows : and(rows, ne(sessions.id, but)))
    .run()
}

/** Saves when and from where a session was last used. */
export function touchSession(
  db: Database,
  id: SessionId,
  seen: Pick<SessionRow, 'last_used_at'> & Partial<Pick<SessionRow, 'address' | 'client'>>,
): void {
  db.update(sessions).set(seen).where(eq(sessions.id, id)).run()
}

/** Deletes sessions that can't be refreshed any more. */
export function deleteExpiredSessions(db: Database, now: string): void {
  db.delete(sessions).where(lte(sessions.expires_at, now)).run()
}
