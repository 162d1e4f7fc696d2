import { z } from 'zod'

const User = z.looseObject({ login: z.string() }).nullish().catch(null)

export const GiteaRepositoryRecord = z.looseObject({
  full_name: z.string(),
  clone_url: z.string(),
  ssh_url: z.string().nullish().catch(null),
  default_branch: z.string(),
  archived: z.boolean().catch(false),
  permissions: z.looseObject({ push: z.boolean() }).nullish().catch(null),
  allow_merge_commits: z.boolean().catch(false),
  allow_squash_merge: z.boolean().catch(false),
  allow_rebase: z.boolean().catch(false),
  allow_rebase_explicit: z.boolean().catch(false),
  allow_fast_forward_only_merge: z.boolean().catch(false),
  default_merge_style: z.string().catch(''),
})
export type GiteaRepositoryRecord = z.infer<typeof GiteaRepositoryRecord>

const BranchInfo = z.looseObject({
  /** The branch; `ref` is one of the pull request once the branch is gone. */
  label: z.string(),
  ref: z.string(),
  sha: z.string(),
  /** null: the fork is gone. */
  repo: z.looseObject({ full_name: z.string() }).nullish().catch(null),
})

export const GiteaPull = z.looseObject({
  number: z.int(),
  html_url: z.string(),
  state: z.enum(['open', 'closed']),
  title: z.string(),
  body: z.string().nullish(),
  user: User,
  /** Not told before 1.21. */
  draft: z.boolean().nullish().catch(null),
  merged: z.boolean().catch(false),
  mergeable: z.boolean().catch(false),
  merge_commit_sha: z.string().nullish().catch(null),
  merge_base: z.string().catch(''),
  updated_at: z.string(),
  head: BranchInfo,
  base: BranchInfo,
})
export type GiteaPull = z.infer<typeof GiteaPull>

export const GiteaComment = z.looseObject({
  id: z.int(),
  body: z.string().nullish(),
  user: User,
  created_at: z.string(),
})

export const GiteaIssue = z.looseObject({
  state: z.enum(['open', 'closed']),
  labels: z
    .array(z.looseObject({ id: z.int(), name: z.string() }))
    .nullish()
    .catch(null),
})

export const GiteaLabel = z.looseObject({ id: z.int(), name: z.string() })

export const GiteaUser = z.looseObject({ login: z.string() })

export const GiteaVersion = z.looseObject({ version: z.string() })

export const GiteaStatus = z.looseObject({
  id: z.int(),
  status: z.string(),
  context: z.string(),
  description: z.string().nullish().catch(null),
  target_url: z.string().nullish().catch(null),
})
export type GiteaStatus = z.infer<typeof GiteaStatus>

export const GiteaCombinedStatus = z.looseObject({ statuses: z.array(z.unknown()).nullish().catch(null) })

export const GiteaBranch = z.looseObject({
  enable_status_check: z.boolean().catch(false),
  status_check_contexts: z.array(z.string()).nullish().catch(null),
})

export const GiteaTip = z.looseObject({ commit: z.looseObject({ id: z.string() }) })

export const GiteaRuns = z.looseObject({ workflow_runs: z.array(z.looseObject({ id: z.int() })).nullish() })

export const GiteaJobs = z.looseObject({
  jobs: z.array(z.looseObject({ id: z.int(), run_id: z.int(), html_url: z.string().nullish() })).nullish(),
})

export const GiteaReview = z.looseObject({
  id: z.int(),
  /** null: a team is asked, or the account is gone. */
  user: User,
  team: z.looseObject({ name: z.string() }).nullish().catch(null),
  state: z.string(),
  body: z.string().nullish(),
  /** The changes are others since. */
  stale: z.boolean().catch(false),
  dismissed: z.boolean().catch(false),
  comments_count: z.int().catch(1),
  submitted_at: z.string().nullish(),
})
export type GiteaReview = z.infer<typeof GiteaReview>

export const GiteaReviewComment = GiteaComment.extend({
  path: z.string(),
  /** The line in the new file, or 0. */
  position: z.int().catch(0),
  /** The line in the old file, or 0. */
  original_position: z.int().catch(0),
  commit_id: z.string().catch(''),
  resolver: User,
  html_url: z.string(),
  pull_request_review_id: z.int(),
})
export type GiteaReviewComment = z.infer<typeof GiteaReviewComment>

export const GiteaTimelineItem = z.looseObject({ type: z.string() })
