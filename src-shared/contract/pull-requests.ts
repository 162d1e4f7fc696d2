import { z } from 'zod'
import { TaskId, Timestamp } from './ids.ts'
import { mergeMethods } from './pull-request-names.ts'

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

const pullRequestStates = ['draft', 'open', 'merged', 'closed'] as const
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

/** Before the first check. */
export const unknownCan: PullRequestCan = {
  checks: null,
  logs: null,
  rerun: null,
  reply: null,
  resolve: null,
  draft: null,
  auto_merge: null,
  queue: null,
}

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

const Login = z.string().trim().min(1).max(200)

/** What becomes of findings at the forge where `auto_fix` is on. */
const AutoFix = z.strictObject({
  enabled: z.boolean().default(false),
  max_rounds: z.int().min(1).max(100).default(10).describe('Since a person’s last act on the task.'),
  from: z.enum(['members', 'anyone']).default('members').describe('Whose comments start a round.'),
  also: z.array(Login).max(100).default([]).describe('Further logins, such as a review bot’s.'),
  resolve: z.boolean().default(false).describe('Threads are resolved with the answer.'),
})

/** A project's pull requests. A change replaces the whole. */
export const PullRequestSettings = z.strictObject({
  enabled: z.boolean().default(false),
  draft: z.boolean().default(false),
  target_branch: z.string().trim().min(1).max(250).nullable().default(null).describe('null: the task’s base branch.'),
  remote: z
    .string()
    .trim()
    .min(1)
    .max(250)
    .nullable()
    .default(null)
    .describe('null: the one of the repository or fork.'),
  fork: z
    .string()
    .trim()
    .regex(/^[^\s?#\\%]+\/[^\s/?#\\%]+$/, 'Enter owner/name.')
    .max(700)
    .nullable()
    .default(null)
    .describe('`owner/name` to push to; null: the repository itself.'),
  labels: z.array(z.string().trim().min(1).max(200)).max(50).default([]),
  reviewers: z.array(Login).max(50).default([]),
  title: z.string().max(500).nullable().default(null).describe('Template; null: `{title}`.'),
  body: z.string().max(20_000).nullable().default(null).describe('Template of Copse’s block in the text.'),
  delete_branch: z.boolean().default(false),
  method: z.enum(mergeMethods).nullable().default(null).describe('null: the repository’s preferred one.'),
  auto_merge: z.boolean().default(false),
  auto_fix: AutoFix.default(AutoFix.parse({})),
})
export type PullRequestSettings = z.infer<typeof PullRequestSettings>

/** What is written to a task's issue. A change replaces the whole. */
export const WriteBackSettings = z.strictObject({
  comment: z.boolean().default(false),
  close: z.boolean().default(false),
  label: z.string().trim().min(1).max(200).nullable().default(null).describe('Set while the task is worked on.'),
  follow: z.boolean().default(false).describe('An issue closed there cancels its task.'),
})
export type WriteBackSettings = z.infer<typeof WriteBackSettings>

/** All off, as it is until switched on. */
export const noPullRequests: PullRequestSettings = PullRequestSettings.parse({})
export const noWriteBack: WriteBackSettings = WriteBackSettings.parse({})

/** Why the forge could not be asked, or what it refused, as clients see it. */
export const ForgeTrouble = z.object({
  reason: z.enum(forgeFailures),
  message: z.string().describe('What to do about it; never the token.'),
  right: z.string().nullable(),
  url: z.string().nullable().describe('Where the right is given.'),
  occurred_at: Timestamp,
})
export type ForgeTrouble = z.infer<typeof ForgeTrouble>

const checkStates = ['queued', 'running', 'passed', 'failed', 'cancelled', 'skipped'] as const

export const PullRequestCheck = z.object({
  name: z.string(),
  state: z.enum(checkStates),
  required: z.boolean().nullable().describe('null: not known, or the target requires none; it counts as required.'),
  url: z.string().nullable(),
  log_tail: z.string().nullable().describe('The end of a failed check’s log.'),
  inherited: z.boolean().describe('It fails on the target too.'),
})
export type PullRequestCheck = z.infer<typeof PullRequestCheck>

export const PullRequestThread = z.object({
  id: z.string(),
  path: z.string().nullable(),
  line: z.int().nullable().describe('1-based; null where the line is gone.'),
  side: z.enum(['old', 'new']),
  resolved: z.boolean(),
  outdated: z.boolean(),
  url: z.string(),
  comments: z.array(
    z.object({
      id: z.string(),
      author: z.string(),
      body: z.string(),
      created_at: Timestamp,
      ours: z.boolean().describe('Copse wrote it, with whatever account.'),
    }),
  ),
})
export type PullRequestThread = z.infer<typeof PullRequestThread>

export const PullRequestReview = z.object({
  author: z.string(),
  state: z.enum(['approved', 'changes_requested', 'commented', 'dismissed', 'requested']),
})
export type PullRequestReview = z.infer<typeof PullRequestReview>

/** What a pull request waits for before it can be merged. */
const pullRequestWaits = [
  'checks',
  'approval',
  'threads',
  'conflict',
  'draft',
  'stack',
  'queue',
  'review',
  'forge',
] as const
export type PullRequestWait = (typeof pullRequestWaits)[number]

/** The task below in the stack, whose work is to be merged first. */
export const PullRequestBelow = z.object({
  task_id: TaskId,
  number: z.int().nullable().describe('Of its open pull request; null: it has none.'),
})
export type PullRequestBelow = z.infer<typeof PullRequestBelow>

/** The pull request of a task, as the forge told last. It is known by its number. */
export const PullRequest = z
  .object({
    task_id: TaskId,
    number: z.int(),
    url: z.string(),
    state: z.enum(pullRequestStates),
    target: z.string(),
    head: z.string().describe('The commit at the forge.'),
    mergeable: z.boolean().nullable().describe('null: the forge works it out.'),
    merge_commit: z.string().nullable(),
    checks: z.array(PullRequestCheck),
    threads: z.array(PullRequestThread),
    reviews: z.array(PullRequestReview),
    rounds: z.int().describe('Rounds of fixing since a person’s last act.'),
    waiting_for: z.array(z.enum(pullRequestWaits)),
    below: PullRequestBelow.nullable().describe('What `stack` in `waiting_for` is about.'),
    synced_at: Timestamp.nullable(),
    last_error: ForgeTrouble.nullable(),
  })
  .meta({ id: 'PullRequest' })
export type PullRequest = z.infer<typeof PullRequest>

/** A task's pull request in short. */
export const PullRequestRef = z.object({ number: z.int(), url: z.string(), state: z.enum(pullRequestStates) })
export type PullRequestRef = z.infer<typeof PullRequestRef>
