import { and, desc, eq, gt, lt, lte } from 'drizzle-orm'
import type { UserId } from '../../src-shared/contract/ids.ts'
import type { Database } from './database-type.ts'
import { securityLog } from './schema/identity.ts'

export type SecurityLogRow = typeof securityLog.$inferSelect

/** Inserts an entry. */
export function insertSecurityEntry(db: Database, entry: SecurityLogRow): void {
  db.insert(securityLog).values(entry).run()
}

/** Deletes older entries. */
export function deleteSecurityEntriesUntil(db: Database, at: string): void {
  db.delete(securityLog).where(lte(securityLog.at, at)).run()
}

/** Returns a page of the log: entries newer than `since` and before the entry `before` (null: all), newest first. */
export function listSecurityEntries(
  db: Database,
  { since, before, limit }: { readonly since: string; readonly before: string | null; readonly limit: number },
): SecurityLogRow[] {
  const isKept = gt(securityLog.at, since)
  return db
    .select()
    .from(securityLog)
    .where(before === null ? isKept : and(isKept, lt(securityLog.id, before)))
    .orderBy(desc(securityLog.id))
    .limit(limit)
    .all()
}

/** Returns whether a person has signed in from an address, as far back as the log goes. */
export function hasSignedInFrom(db: Database, userId: UserId, address: string): boolean {
  const isSignIn = eq(securityLog.type, 'signed_in')
  return (
    db
      .select({ id: securityLog.id })
      .from(securityLog)
      .where(and(eq(securityLog.user_id, userId), eq(securityLog.address, address), isSignIn))
      .limit(1)
      .get() !== undefined
  )
}
