import { z } from 'zod'
import { utf8Length } from '../lang/utf8-length.ts'
import { InviteId, SessionId, Timestamp, TokenId, UserId } from './ids.ts'

export const User = z
  .object({
    id: UserId,
    email: z.string(),
    handle: z.string(),
    display_name: z.string(),
    is_admin: z.boolean(),
    created_at: Timestamp,
  })
  .meta({ id: 'User' })
export type User = z.infer<typeof User>

/** How a caller without a token can get in. */
export const AuthOptions = z
  .object({
    registered: z.boolean().describe('Whether there is an account.'),
    registration: z
      .enum(['open', 'code', 'closed'])
      .describe('Whether the caller can make an account: at once, with an invite or the setup code, or not from here.'),
  })
  .meta({ id: 'AuthOptions' })
export type AuthOptions = z.infer<typeof AuthOptions>

/** How long a browser that stays signed in can go on with its session. */
export const rememberedDays = 30

export const Session = z
  .object({
    user: User,
    access_token: z.string(),
    refresh_token: z.string(),
    token_type: z.literal('Bearer'),
    expires_in: z.int(),
  })
  .meta({ id: 'Session' })
export type Session = z.infer<typeof Session>

/** 8 characters to 72 bytes, because bcrypt ignores the rest. */
export const Password = z
  .string()
  .min(8, 'A password has at least 8 characters.')
  .refine((text) => utf8Length(text) <= 72, 'A password has at most 72 bytes.')

/** Scope of a personal token: all that its owner may, or only reading. */
export const TokenScope = z.enum(['full', 'read'])
export type TokenScope = z.infer<typeof TokenScope>

export const PersonalAccessToken = z
  .object({
    id: TokenId,
    name: z.string(),
    scope: TokenScope,
    created_at: Timestamp,
    expires_at: Timestamp.nullable().describe('null: it works until it is revoked.'),
    last_used_at: Timestamp.nullable(),
  })
  .meta({ id: 'PersonalAccessToken' })
export type PersonalAccessToken = z.infer<typeof PersonalAccessToken>

/** A session that is still valid. */
export const ActiveSession = z
  .object({
    id: SessionId,
    created_at: Timestamp,
    last_used_at: Timestamp.describe('Right to the minute.'),
    address: z.string().nullable().describe('Where it was last used from.'),
    client: z.string().nullable().describe('What the browser or program said of itself (User-Agent).'),
    current: z.boolean().describe('The caller’s own.'),
  })
  .meta({ id: 'ActiveSession' })
export type ActiveSession = z.infer<typeof ActiveSession>

export const Invite = z
  .object({
    id: InviteId,
    created_at: Timestamp,
    created_by: UserId,
    expires_at: Timestamp,
  })
  .meta({ id: 'Invite' })
export type Invite = z.infer<typeof Invite>

/** Event types of the security log. */
const securityEventTypes = [
  'registered',
  'registration_refused',
  'signed_in',
  'sign_in_failed',
  'signed_out',
  'session_ended',
  'refresh_token_reused',
  'password_changed',
  'password_change_failed',
  'reset_created',
  'reset_used',
  'token_created',
  'token_revoked',
  'invite_created',
  'invite_used',
  'invite_deleted',
  'setup_code_void',
  'admin_granted',
  'admin_revoked',
  'member_added',
  'member_changed',
  'member_removed',
  'exposed',
  'run_refused',
] as const

export const SecurityLogEntry = z
  .object({
    id: z.uuid(),
    type: z.enum(securityEventTypes),
    at: Timestamp,
    user_id: UserId.nullable().describe('Whose account it is about; null where there is none.'),
    actor: z.string().describe('Who did it: user:<handle>, user:local, user:anonymous, agent:<id> or system.'),
    address: z.string().nullable().describe('null: from this machine’s window or by the service itself.'),
    client: z.string().nullable(),
    details: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'SecurityLogEntry' })
export type SecurityLogEntry = z.infer<typeof SecurityLogEntry>
export type SecurityEventType = SecurityLogEntry['type']
