import { z } from 'zod'
import { platforms, platformsText } from './trackers.ts'
import { AgentId, IntegrationId, ProjectId, Timestamp, UserId } from './ids.ts'
import { PullRequestCan, PullRequestSettings, WriteBackSettings } from './pull-requests.ts'

/** Why a sync cycle failed. */
export const syncFailures = [
  'missing_secret',
  'unusable_secret',
  'secret_bound',
  'unauthorized',
  'forbidden',
  'not_found',
  'rate_limited',
  'other_host',
  'unreachable',
  'timed_out',
  'too_large',
  'bad_response',
  'tracker_failed',
  'unknown_state',
  'unknown_assignee',
  'internal_error',
] as const
export type SyncFailure = (typeof syncFailures)[number]

export const SyncError = z.object({
  reason: z.enum(syncFailures),
  message: z.string().describe('What to do about it; never the token.'),
  occurred_at: Timestamp,
})
export type SyncError = z.infer<typeof SyncError>

/** Progress of a sync cycle. Stored, so that after a restart the next cycle continues there. */
export const SyncProgress = z.object({
  started_at: Timestamp,
  pages: z.int().describe('Pages that are done.'),
  pages_total: z.int().nullable().describe('As the tracker says; null when it does not.'),
  imported: z.int(),
  skipped: z.int(),
  errors: z.int(),
})
export type SyncProgress = z.infer<typeof SyncProgress>

export const SyncFilter = z.object({
  labels: z.array(z.string().trim().min(1).max(200)).max(100).optional().describe('At least one of them; any case.'),
})
export type SyncFilter = z.infer<typeof SyncFilter>

const Name = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .regex(/^[^\s/?#\\%]+$/, 'Enter the name alone, as in the address.')
  .refine((name) => name !== '.' && name !== '..', 'Enter the name alone, as in the address.')

/** `group/subgroup` where the platform has groups in groups. */
const Owner = z
  .string()
  .trim()
  .min(1)
  .max(500)
  .regex(/^[^\s?#\\%]+$/, 'Enter the name alone, as in the address.')
  .refine(
    (name) => name.split('/').every((part) => !['', '.', '..'].includes(part)),
    'Enter the name alone, as in the address.',
  )

const VariableName = z
  .string()
  .regex(/^[A-Z][A-Z0-9_]{0,127}$/, 'Enter the name of an environment variable, such as GITHUB_TOKEN.')

/** The fields of an integration that clients set, shared by its creation and its change. */
export const IntegrationFields = z.object({
  platform: z.enum(platforms),
  base_url: z.string().trim().min(1).max(2_000).describe('Of the API; https, or http on this machine.'),
  owner: Owner.describe('With `/` between groups in groups, where the platform has those.'),
  repo: Name,
  token_secret_ref: VariableName,
  poll_interval_secs: z.int().min(1).max(86_400).optional(),
  sync_filter: SyncFilter.optional(),
  default_task_state: z.string().min(1).nullable().optional(),
  default_assignee_type: z.enum(['agent', 'user']).nullable().optional(),
  default_assignee_id: z.union([AgentId, UserId]).nullable().optional(),
  enabled: z.boolean().optional(),
  pull_requests: PullRequestSettings.optional(),
  write_back: WriteBackSettings.optional(),
  webhook_secret_ref: VariableName.nullable().optional().describe('Holds what the forge’s webhook is signed with.'),
})
export type IntegrationFields = z.infer<typeof IntegrationFields>

/** A project's connection to an issue tracker: each open issue becomes one task. */
export const Integration = z
  .object({
    id: IntegrationId,
    project_id: ProjectId,
    platform: z.enum(platforms).describe(platformsText),
    base_url: z.string(),
    owner: z.string(),
    repo: z.string(),
    token_secret_ref: z.string().describe('Name of the environment variable that holds the token.'),
    poll_interval_secs: z.int(),
    sync_filter: SyncFilter,
    default_task_state: z.string().nullable(),
    default_assignee_type: z.enum(['agent', 'user']).nullable(),
    default_assignee_id: z.union([AgentId, UserId]).nullable(),
    enabled: z.boolean(),
    pull_requests: PullRequestSettings,
    write_back: WriteBackSettings,
    webhook_secret_ref: z.string().nullable(),
    can: PullRequestCan.describe('As the last check of the token found it.'),
    token_expires_at: Timestamp.nullable(),
    last_polled_at: Timestamp.nullable().describe('When the last cycle that succeeded ended.'),
    last_error: SyncError.nullable().describe('Of the last cycle, if it failed.'),
    progress: SyncProgress.nullable().describe('Of a cycle that has started and not ended.'),
    syncing: z.boolean().describe('Whether a cycle runs at this moment.'),
    next_poll_at: Timestamp.nullable().describe('null while it is not enabled.'),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'Integration' })
export type Integration = z.infer<typeof Integration>

/** Counts of a sync cycle. */
export const SyncCounts = z
  .object({
    imported: z.int(),
    skipped: z.int().describe('Issues that were linked already.'),
    errors: z.int().describe('Issues that could not be imported.'),
  })
  .meta({ id: 'SyncCounts' })
export type SyncCounts = z.infer<typeof SyncCounts>
