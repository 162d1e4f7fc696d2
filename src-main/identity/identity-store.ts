import type { User } from '../../src-shared/contract/identity.ts'
import type {
  AgentId,
  DaemonId,
  ExecutionId,
  ProjectId,
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

export interface RefreshTokenRecord {
  token_hash: string
  family_id: string
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
  created_at: string
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
  }
  readonly refreshTokens: {
    insert(token: RefreshTokenRecord): void
    find(tokenHash: string): RefreshTokenRecord | null
    markRotated(tokenHash: string, at: string): void
    deleteFamily(familyId: string): void
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
