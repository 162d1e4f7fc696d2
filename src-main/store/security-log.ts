import { and, desc, eq, gt, lt, lte } from 'drizzle-orm'
import type { UserId } from '../../src-shared/contract/ids.ts'
import type { Database } from './database-type.ts'
import { securityLog } from './schema/identity.ts'

export type SecurityLogRow = typeof securityLog.$inferSelect

/** Adds an entry. */
export function insertSecurityEntry(db: Database, entry: SecurityLogRow): void {
  db.insert(securityLog).values(entry).run()
}

/** Forgets what is older. */
export function deleteSecurityEntriesUntil(db: Database, at: string): void {
  db.delete(securityLog).where(lte(securityLog.at, at)).run()
}

/** A page of the log: what is newer than `since` and was noted before the entry `before` (null: all), newest first. */
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

/** Whether a person has signed in from an address, as far as the log goes back. */
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
