import { desc, eq, gt, lte } from 'drizzle-orm'
import type { InviteId, UserId } from '../../src-shared/contract/ids.ts'
import type { Database } from './database-type.ts'
import { invites, passwordResets } from './schema/identity.ts'

export type InviteRow = typeof invites.$inferSelect
export type PasswordResetRow = typeof passwordResets.$inferSelect

/** Inserts an invite by its code's hash, and deletes expired ones. */
export function insertInvite(db: Database, invite: InviteRow): void {
  db.delete(invites).where(lte(invites.expires_at, invite.created_at)).run()
  db.insert(invites).values(invite).run()
}

/** Returns the invite with this code, expired or not. */
export function findInviteByCode(db: Database, codeHash: string): InviteRow | null {
  return db.select().from(invites).where(eq(invites.code_hash, codeHash)).get() ?? null
}

/** Returns invites that have not expired, newest first. */
export function listInvites(db: Database, now: string): InviteRow[] {
  return db.select().from(invites).where(gt(invites.expires_at, now)).orderBy(desc(invites.id)).all()
}

/** Deletes a withdrawn or used invite; returns whether it existed. */
export function deleteInvite(db: Database, id: InviteId): boolean {
  return db.delete(invites).where(eq(invites.id, id)).run().changes > 0
}

/** Replaces a person's reset code. */
export function putPasswordReset(db: Database, reset: PasswordResetRow): void {
  const { user_id: target, ...set } = reset
  db.insert(passwordResets)
    .values({ user_id: target, ...set })
    .onConflictDoUpdate({ target: passwordResets.user_id, set })
    .run()
}

/** Returns a person's reset code, expired or not. */
export function findPasswordReset(db: Database, userId: UserId): PasswordResetRow | null {
  return db.select().from(passwordResets).where(eq(passwordResets.user_id, userId)).get() ?? null
}

/** Deletes a person's reset code. */
export function deletePasswordReset(db: Database, userId: UserId): void {
  db.delete(passwordResets).where(eq(passwordResets.user_id, userId)).run()
}
