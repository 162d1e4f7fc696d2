import type { UserId } from '../../src-shared/contract/ids.ts'
import {
  findApiToken,
  insertApiToken,
  listApiTokens,
  prepareFindApiTokenByHash,
  prepareIsAtWork,
  revokeApiToken,
  revokeExecutionTokens,
  touchApiToken,
} from './api-tokens.ts'
import { prepareFindDaemonByToken } from './daemons.ts'
import type { Database } from './database-type.ts'
import {
  deleteInvite,
  deletePasswordReset,
  findInviteByCode,
  findPasswordReset,
  insertInvite,
  listInvites,
  putPasswordReset,
} from './invites.ts'
import { readInstallation, writeInstallation } from './installation.ts'
import {
  deleteSecurityEntriesUntil,
  hasSignedInFrom,
  insertSecurityEntry,
  listSecurityEntries,
} from './security-log.ts'
import {
  deleteExpiredSessions,
  deleteSession,
  deleteSessionsOf,
  listSessions,
  prepareFindSession,
  putSession,
  touchSession,
} from './sessions.ts'
import {
  findUserByEmail,
  findUserByHandle,
  insertUser,
  listUsers,
  prepareFindUser,
  setAdmin,
  setPasswordHash,
} from './users.ts'
import { eq, lte } from 'drizzle-orm'
import { refreshTokens } from './schema/identity.ts'

/** The key, in `installation`, of the first account, which took over ownerless resources. */
const firstUserKey = 'first_user_id'

type Bound<F> = F extends (db: Database, ...rest: infer A) => infer R ? (...rest: A) => R : never

const bindTo =
  (db: Database) =>
  <A extends unknown[], R>(query: (db: Database, ...rest: A) => R): Bound<typeof query> =>
  (...rest: A) =>
    query(db, ...rest)

/** Creates identity's queries; the result fits `IdentityStore`. `transaction` commits changes. */
export function createIdentityStore<A>(db: Database, transaction: <T>(work: (announce: A) => T) => T) {
  const bind = bindTo(db)
  let endings = 0
  /** Counts what ends the right of a token, so that open streams look at theirs again only then. */
  const ending =
    <A extends unknown[], R>(query: (...rest: A) => R) =>
    (...rest: A): R => {
      endings += 1
      return query(...rest)
    }
  return {
    transaction,
    endings: () => endings,
    firstUserId: () => readInstallation(db, firstUserKey) as UserId | null,
    setFirstUser: (userId: UserId) => {
      writeInstallation(db, firstUserKey, userId)
    },
    daemonWithToken: prepareFindDaemonByToken(db),
    isAtWork: prepareIsAtWork(db),
    users: {
      insert: bind(insertUser),
      find: prepareFindUser(db),
      findByEmail: bind(findUserByEmail),
      findByHandle: bind(findUserByHandle),
      list: bind(listUsers),
      setAdmin: bind(setAdmin),
      setPasswordHash: bind(setPasswordHash),
    },
    sessions: {
      put: bind(putSession),
      find: prepareFindSession(db),
      list: bind(listSessions),
      delete: ending(bind(deleteSession)),
      deleteOf: ending(bind(deleteSessionsOf)),
      touch: bind(touchSession),
      deleteExpired: bind(deleteExpiredSessions),
    },
    invites: {
      insert: bind(insertInvite),
      findByCode: bind(findInviteByCode),
      list: bind(listInvites),
      delete: bind(deleteInvite),
    },
    resets: {
      put: bind(putPasswordReset),
      find: bind(findPasswordReset),
      delete: bind(deletePasswordReset),
    },
    securityLog: {
      insert: bind(insertSecurityEntry),
      deleteUntil: bind(deleteSecurityEntriesUntil),
      list: bind(listSecurityEntries),
      hasSignedInFrom: bind(hasSignedInFrom),
    },
    refreshTokens: {
      insert: bind(insertRefreshToken),
      find: bind(findRefreshToken),
      markRotated: bind(markRefreshTokenRotated),
      deleteExpired: bind(deleteExpiredRefreshTokens),
    },
    apiTokens: {
      insert: bind(insertApiToken),
      find: bind(findApiToken),
      findByHash: prepareFindApiTokenByHash(db),
      list: bind(listApiTokens),
      revoke: ending(bind(revokeApiToken)),
      revokeOfExecution: ending(bind(revokeExecutionTokens)),
      touch: bind(touchApiToken),
    },
  }
}

type RefreshTokenRow = typeof refreshTokens.$inferSelect

/** Inserts a refresh token by its hash. */
function insertRefreshToken(db: Database, token: RefreshTokenRow): void {
  db.insert(refreshTokens).values(token).run()
}

/** Returns the refresh token with this hash, rotated or not. */
function findRefreshToken(db: Database, tokenHash: string): RefreshTokenRow | null {
  return db.select().from(refreshTokens).where(eq(refreshTokens.token_hash, tokenHash)).get() ?? null
}

/** Marks a token as used; the row stays, so that its reuse is detected. */
function markRefreshTokenRotated(db: Database, tokenHash: string, at: string): void {
  db.update(refreshTokens).set({ rotated_at: at }).where(eq(refreshTokens.token_hash, tokenHash)).run()
}

/** Deletes expired tokens. */
function deleteExpiredRefreshTokens(db: Database, now: string): void {
  db.delete(refreshTokens).where(lte(refreshTokens.expires_at, now)).run()
}
