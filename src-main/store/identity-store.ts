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
  deleteExpiredRefreshTokens,
  findRefreshToken,
  insertRefreshToken,
  markRefreshTokenRotated,
} from './refresh-tokens.ts'
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

/** Names, in `installation`, the person whose registration took over the ownerless resources. */
const firstUserKey = 'first_user_id'

type Bound<F> = F extends (db: Database, ...rest: infer A) => infer R ? (...rest: A) => R : never

const bindTo =
  (db: Database) =>
  <A extends unknown[], R>(query: (db: Database, ...rest: A) => R): Bound<typeof query> =>
  (...rest: A) =>
    query(db, ...rest)

/** What `identity` keeps in the database; it fits `IdentityStore` there. `transaction` is how changes are committed. */
export function createIdentityStore<A>(db: Database, transaction: <T>(work: (announce: A) => T) => T) {
  const bind = bindTo(db)
  return {
    transaction,
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
      delete: bind(deleteSession),
      deleteOf: bind(deleteSessionsOf),
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
      revoke: bind(revokeApiToken),
      revokeOfExecution: bind(revokeExecutionTokens),
      touch: bind(touchApiToken),
    },
  }
}
