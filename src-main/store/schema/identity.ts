import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { SecurityEventType, TokenScope } from '../../../src-shared/contract/identity.ts'
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
} from '../../../src-shared/contract/ids.ts'
import { json } from './columns.ts'
import { projects } from './work.ts'

/** People. The email keeps its case and is unique case-insensitively. */
export const users = sqliteTable(
  'users',
  {
    id: text().$type<UserId>().primaryKey(),
    email: text().notNull(),
    handle: text().notNull().unique(),
    display_name: text().notNull(),
    password_hash: text().notNull(),
    is_admin: integer({ mode: 'boolean' }).notNull(),
    created_at: text().notNull(),
  },
  (table) => [uniqueIndex('users_email_unique').on(sql`lower(${table.email})`)],
)

/** Active sign-ins: the ID is the `sid` of the access tokens and the family of the refresh tokens. */
export const sessions = sqliteTable(
  'sessions',
  {
    id: text().$type<SessionId>().primaryKey(),
    user_id: text()
      .$type<UserId>()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    created_at: text().notNull(),
    last_used_at: text().notNull(),
    /** Equals the expiry of its newest refresh token. */
    expires_at: text().notNull(),
    address: text(),
    client: text(),
  },
  (table) => [index('sessions_user').on(table.user_id), index('sessions_expiry').on(table.expires_at)],
)

/** Codes that let one person register each, by their SHA-256. Used or withdrawn ones are deleted. */
export const invites = sqliteTable('invites', {
  id: text().$type<InviteId>().primaryKey(),
  code_hash: text().notNull().unique(),
  created_by: text()
    .$type<UserId>()
    .notNull()
    .references(() => users.id, { onDelete: 'cascade' }),
  created_at: text().notNull(),
  expires_at: text().notNull(),
})

/** The one code with which a person may sign in without their password, by its SHA-256. */
export const passwordResets = sqliteTable('password_resets', {
  user_id: text()
    .$type<UserId>()
    .primaryKey()
    .references(() => users.id, { onDelete: 'cascade' }),
  code_hash: text().notNull(),
  expires_at: text().notNull(),
})

/** Events of accounts and tokens, kept for a limited time. They outlive their accounts. */
export const securityLog = sqliteTable(
  'security_log',
  {
    id: text().primaryKey(),
    type: text().$type<SecurityEventType>().notNull(),
    at: text().notNull(),
    user_id: text().$type<UserId>(),
    actor: text().notNull(),
    address: text(),
    client: text(),
    details: json<Readonly<Record<string, unknown>>>('details').notNull(),
  },
  (table) => [index('security_log_at').on(table.at), index('security_log_user').on(table.user_id, table.address)],
)

/** Refresh tokens by their SHA-256. A rotated one stays until it expires, so that its reuse is detected. */
export const refreshTokens = sqliteTable(
  'refresh_tokens',
  {
    token_hash: text().primaryKey(),
    family_id: text().$type<SessionId>().notNull(),
    user_id: text()
      .$type<UserId>()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    created_at: text().notNull(),
    expires_at: text().notNull(),
    rotated_at: text(),
  },
  (table) => [
    index('refresh_tokens_family').on(table.family_id),
    index('refresh_tokens_user').on(table.user_id),
    index('refresh_tokens_expiry').on(table.expires_at),
  ],
)

/**
 * Long-lived tokens by their SHA-256: a person's (`user_id`), or an agent's (`agent_id`, `project_id`, `task_id`,
 * `execution_id`). A revoked row stays, so that its ID is never reused.
 */
export const apiTokens = sqliteTable(
  'api_tokens',
  {
    id: text().$type<TokenId>().primaryKey(),
    token_hash: text().notNull().unique(),
    user_id: text()
      .$type<UserId>()
      .references(() => users.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    scope: text().$type<TokenScope>().notNull().default('full'),
    created_at: text().notNull(),
    expires_at: text(),
    last_used_at: text(),
    agent_id: text().$type<AgentId>(),
    project_id: text().$type<ProjectId>(),
    task_id: text().$type<TaskId>(),
    execution_id: text().$type<ExecutionId>(),
    revoked_at: text(),
  },
  (table) => [index('api_tokens_user').on(table.user_id), index('api_tokens_execution').on(table.execution_id)],
)

/** Members of projects, with their roles. */
export const projectMembers = sqliteTable(
  'project_members',
  {
    project_id: text()
      .$type<ProjectId>()
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    user_id: text()
      .$type<UserId>()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    role: text({ enum: ['owner', 'member'] }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.project_id, table.user_id] }),
    index('project_members_user').on(table.user_id),
  ],
)

/** Machines that host agents, by the SHA-256 of their token. A revoked one stays: its agents refer to it. */
export const daemons = sqliteTable('daemons', {
  id: text().$type<DaemonId>().primaryKey(),
  token_hash: text().notNull().unique(),
  name: text().notNull(),
  owner_id: text().$type<UserId>(),
  hostname: text(),
  version: text(),
  created_at: text().notNull(),
  last_seen_at: text(),
  revoked_at: text(),
})

/** Values of the installation by name: `bootstrapped_at` is set by the first registration. */
export const installation = sqliteTable('installation', {
  key: text().primaryKey(),
  value: text().notNull(),
})
