import { eq, sql } from 'drizzle-orm'
import type { UserId } from '../../src-shared/contract/ids.ts'
import type { Database } from './database-type.ts'
import { prepareGet } from './prepared-statements.ts'
import { cachedQuery } from './query-cache.ts'
import { users } from './schema/identity.ts'

export type UserRow = typeof users.$inferSelect

/** Inserts an account. Throws if the email or the handle is taken. */
export function insertUser(db: Database, user: UserRow): void {
  db.insert(users).values(user).run()
}

/** Prepares a query for the account with an ID; every request with a token runs it. */
export function prepareFindUser(db: Database): (id: UserId) => UserRow | null {
  return cachedQuery(db, users, prepareGet(db, users, users.id))
}

/** Returns the account with this email, case-insensitively. */
export function findUserByEmail(db: Database, email: string): UserRow | null {
  return (
    db
      .select()
      .from(users)
      .where(sql`lower(${users.email}) = ${email.toLowerCase()}`)
      .get() ?? null
  )
}

/** Returns the account with this handle. */
export function findUserByHandle(db: Database, handle: string): UserRow | null {
  return db.select().from(users).where(eq(users.handle, handle)).get() ?? null
}

/** Sets whether an account is an admin. */
export function setAdmin(db: Database, id: UserId, is_admin: boolean): void {
  db.update(users).set({ is_admin }).where(eq(users.id, id)).run()
}

/** Replaces the hash of a user's password. */
export function setPasswordHash(db: Database, id: UserId, password_hash: string): void {
  db.update(users).set({ password_hash }).where(eq(users.id, id)).run()
}

/** Lists all accounts, in order of registration. */
export function listUsers(db: Database): UserRow[] {
  return db.select().from(users).orderBy(users.id).all()
}
