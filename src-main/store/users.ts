import { eq, sql } from 'drizzle-orm'
import type { UserId } from '../../src-shared/contract/ids.ts'
import type { Database } from './database-type.ts'
import { prepareGet } from './prepared-statements.ts'
import { cachedQuery } from './query-cache.ts'
import { users } from './schema/identity.ts'

export type UserRow = typeof users.$inferSelect

/** Adds a person. Throws when the email or the handle is taken. */
export function insertUser(db: Database, user: UserRow): void {
  db.insert(users).values(user).run()
}

/** Finds the person with an id; prepared once, for every request with a token asks it. */
export function prepareFindUser(db: Database): (id: UserId) => UserRow | null {
  return cachedQuery(db, prepareGet(db, users, users.id))
}

/** The person with this email, written in any case. */
export function findUserByEmail(db: Database, email: string): UserRow | null {
  return (
    db
      .select()
      .from(users)
      .where(sql`lower(${users.email}) = ${email.toLowerCase()}`)
      .get() ?? null
  )
}

/** The person with this handle. */
export function findUserByHandle(db: Database, handle: string): UserRow | null {
  return db.select().from(users).where(eq(users.handle, handle)).get() ?? null
}

/** Makes somebody an admin, or no longer one. */
export function setAdmin(db: Database, id: UserId, is_admin: boolean): void {
  db.update(users).set({ is_admin }).where(eq(users.id, id)).run()
}

/** Replaces the hash of a user's password. */
export function setPasswordHash(db: Database, id: UserId, password_hash: string): void {
  db.update(users).set({ password_hash }).where(eq(users.id, id)).run()
}

/** Everybody, in the order of registration. */
export function listUsers(db: Database): UserRow[] {
  return db.select().from(users).orderBy(users.id).all()
}
