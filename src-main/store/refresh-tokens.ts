import { eq, lte } from 'drizzle-orm'
import type { Database } from './database-type.ts'
import { refreshTokens } from './schema/identity.ts'

export type RefreshTokenRow = typeof refreshTokens.$inferSelect

/** Adds a refresh token by its hash. */
export function insertRefreshToken(db: Database, token: RefreshTokenRow): void {
  db.insert(refreshTokens).values(token).run()
}

/** The refresh token with this hash, rotated or not. */
export function findRefreshToken(db: Database, tokenHash: string): RefreshTokenRow | null {
  return db.select().from(refreshTokens).where(eq(refreshTokens.token_hash, tokenHash)).get() ?? null
}

/** Marks a token as used up; it stays, so that its reuse is noticed. */
export function markRefreshTokenRotated(db: Database, tokenHash: string, at: string): void {
  db.update(refreshTokens).set({ rotated_at: at }).where(eq(refreshTokens.token_hash, tokenHash)).run()
}

/** Forgets the tokens that are of no use any more. */
export function deleteExpiredRefreshTokens(db: Database, now: string): void {
  db.delete(refreshTokens).where(lte(refreshTokens.expires_at, now)).run()
}
