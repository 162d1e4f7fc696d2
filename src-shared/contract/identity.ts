import { z } from 'zod'
import { utf8Length } from '../lang/utf8-length.ts'
import { Timestamp, TokenId, UserId } from './ids.ts'

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

/** 8 characters to 72 bytes: bcrypt ignores what is beyond. */
export const Password = z
  .string()
  .min(8, 'A password has at least 8 characters.')
  .refine((text) => utf8Length(text) <= 72, 'A password has at most 72 bytes.')

export const PersonalAccessToken = z
  .object({ id: TokenId, name: z.string(), created_at: Timestamp, last_used_at: Timestamp.nullable() })
  .meta({ id: 'PersonalAccessToken' })
export type PersonalAccessToken = z.infer<typeof PersonalAccessToken>
