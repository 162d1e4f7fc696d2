import { z } from 'zod'
import { Timestamp } from './ids.ts'

/** Why a forge couldn't be asked, or refused. The first seven are told to clients as `external_sync_failed`. */
export const forgeFailures = [
  'missing_secret',
  'unauthorized',
  'forbidden',
  'not_found',
  'archived',
  'rate_limited',
  'unreachable',
  'not_mergeable',
  'not_supported',
  'refused',
] as const
export type ForgeFailure = (typeof forgeFailures)[number]

export const pullRequestStates = ['draft', 'open', 'merged', 'closed'] as const
export type PullRequestState = (typeof pullRequestStates)[number]

const Known = z.boolean().nullable().describe('null: not known yet.')

/** What the forge and the token allow. */
export const PullRequestCan = z
  .object({
    checks: z.enum(['all', 'some', 'none']).nullable().describe('Which checks can be read; null: not known yet.'),
    logs: Known,
    rerun: Known,
    reply: Known,
    resolve: Known,
    draft: Known,
    auto_merge: Known,
    queue: Known,
  })
  .meta({ id: 'PullRequestCan' })
export type PullRequestCan = z.infer<typeof PullRequestCan>

export const TokenRight = z
  .object({
    right: z.string().describe('As the forge names it, with where it is given.'),
    needed_for: z.string(),
    state: z.enum(['ok', 'missing', 'unknown']),
  })
  .meta({ id: 'TokenRight' })
export type TokenRight = z.infer<typeof TokenRight>

export const IntegrationCheck = z
  .object({ can: PullRequestCan, rights: z.array(TokenRight), token_expires_at: Timestamp.nullable() })
  .meta({ id: 'IntegrationCheck' })
export type IntegrationCheck = z.infer<typeof IntegrationCheck>
