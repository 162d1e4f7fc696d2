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

/** A sign-in that still works; its id is the family of its refresh tokens. */
export interface SessionRecord {
  id: SessionId
  user_id: UserId
  created_at: string
  last_used_at: string
  expires_at: string
  address: string | null
  client: string | null
}

export interface InviteRecord {
  id: InviteId
  code_hash: string
  created_by: UserId
  created_at: string
  expires_at: string
}

export interface PasswordResetRecord {
  user_id: UserId
  code_hash: string
  expires_at: string
}

export interface RefreshTokenRecord {
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

/** What a registration means to everything else; part of its transaction. */
export interface Announcement {
  /** Says that somebody has registered; the first one takes over what has no owner. */
  registered(user: User, isFirst: boolean): void
}

/** What people and tokens need of the database; everything is synchronous, times are ISO text. */
export interface IdentityStore {
  /** All of `work` or, when it throws, nothing. */
  transaction<T>(work: (announce: Announcement) => T): T
  /** Who registered first; null while the installation is unowned. */
  firstUserId(): UserId | null
  /** Sets the bootstrap flag, for good. */
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
    /** New or known. */
    put(session: SessionRecord): void
    find(id: SessionId): SessionRecord | null
    /** Newest first. */
    list(userId: UserId): SessionRecord[]
    /** Its refresh tokens go with it. */
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
    /** Also one that has expired. */
    findByCode(codeHash: string): InviteRecord | null
    list(now: string): InviteRecord[]
    /** Whether there was one. */
    delete(id: InviteId): boolean
  }
  readonly resets: {
    /** In the place of the one before. */
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
  /** The daemon with a token, unless it is revoked. */
  daemonWithToken(tokenHash: string): DaemonId | null
  /** Whether an execution still works in the state that it was opened for. */
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
