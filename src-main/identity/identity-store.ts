import type { SecurityLogEntry, TokenScope, User } from '../../src-shared/contract/identity.ts'
import type {
  AgentId,
  DaemonId,
  ExecutionId,
  InviteId,
  ProjectId,
  SessionId,
  TaskId,
  TokenId,
  UserId,
} from '../../src-shared/contract/ids.ts'

export interface UserRecord {
  id: UserId
  email: string
  handle: string
  display_name: string
  password_hash: string
  is_admin: boolean
  created_at: string
}

/** An active sign-in; its ID is the family of its refresh tokens. */
interface SessionRecord {
  id: SessionId
  user_id: UserId
  created_at: string
  last_used_at: string
  expires_at: string
  address: string | null
  client: string | null
}

interface InviteRecord {
  id: InviteId
  code_hash: string
  created_by: UserId
  created_at: string
  expires_at: string
}

interface PasswordResetRecord {
  user_id: UserId
  code_hash: string
  expires_at: string
}

interface RefreshTokenRecord {
  token_hash: string
  family_id: SessionId
  user_id: UserId
  created_at: string
  expires_at: string
  rotated_at: string | null
}

export interface ApiTokenRecord {
  id: TokenId
  token_hash: string
  user_id: UserId | null
  name: string
  scope: TokenScope
  created_at: string
  expires_at: string | null
  last_used_at: string | null
  agent_id: AgentId | null
  project_id: ProjectId | null
  task_id: TaskId | null
  execution_id: ExecutionId | null
  revoked_at: string | null
}

/** Effects of a registration on other data, in the same transaction. */
export interface Announcement {
  /** Announces a registration; the first account takes over what has no owner. */
  registered(user: User, isFirst: boolean): void
}

/** Database operations of identity, all synchronous; times are ISO texts. */
export interface IdentityStore {
  /** Runs `work` in a transaction, which is rolled back if it throws. */
  transaction<T>(work: (announce: Announcement) => T): T
  /** Counts the sessions and tokens that were ended since the start. */
  endings(): number
  /** Returns the first account, or null before the first registration. */
  firstUserId(): UserId | null
  /** Sets the first account, permanently. */
  setFirstUser(userId: UserId): void
  readonly users: {
    insert(user: UserRecord): void
    find(id: UserId): UserRecord | null
    findByEmail(email: string): UserRecord | null
    findByHandle(handle: string): UserRecord | null
    list(): UserRecord[]
    setAdmin(id: UserId, is_admin: boolean): void
    setPasswordHash(id: UserId, password_hash: string): void
  }
  readonly sessions: {
    /** Inserts or updates a session. */
    put(session: SessionRecord): void
    find(id: SessionId): SessionRecord | null
    /** Newest first. */
    list(userId: UserId): SessionRecord[]
    /** Deletes a session with its refresh tokens. */
    delete(id: SessionId): void
    deleteOf(userId: UserId, but: SessionId | null): void
    touch(
      id: SessionId,
      seen: { readonly last_used_at: string; readonly address?: string | null; readonly client?: string | null },
    ): void
    deleteExpired(now: string): void
  }
  readonly invites: {
    insert(invite: InviteRecord): void
    /** Also returns an expired invite. */
    findByCode(codeHash: string): InviteRecord | null
    list(now: string): InviteRecord[]
    /** Returns whether the invite existed. */
    delete(id: InviteId): boolean
  }
  readonly resets: {
    /** Replaces an earlier reset code. */
    put(reset: PasswordResetRecord): void
    find(userId: UserId): PasswordResetRecord | null
    delete(userId: UserId): void
  }
  readonly securityLog: {
    insert(entry: SecurityLogEntry): void
    deleteUntil(at: string): void
    list(page: { readonly since: string; readonly before: string | null; readonly limit: number }): SecurityLogEntry[]
    hasSignedInFrom(userId: UserId, address: string): boolean
  }
  readonly refreshTokens: {
    insert(token: RefreshTokenRecord): void
    find(tokenHash: string): RefreshTokenRecord | null
    markRotated(tokenHash: string, at: string): void
    deleteExpired(now: string): void
  }
  /** Returns the daemon of a token, unless it is revoked. */
  daemonWithToken(tokenHash: string): DaemonId | null
  /** Returns whether an execution is open and its task still in the state it was opened for. */
  isAtWork(executionId: ExecutionId): boolean
  readonly apiTokens: {
    insert(token: ApiTokenRecord): void
    find(id: TokenId): ApiTokenRecord | null
    findByHash(tokenHash: string): ApiTokenRecord | null
    list(userId: UserId): ApiTokenRecord[]
    revoke(id: TokenId, at: string): void
    revokeOfExecution(executionId: ExecutionId, at: string): void
    touch(id: TokenId, at: string): void
  }
}
