/** What a GitHub server keeps. Names and values are those of its own API. */

export type Role = 'admin' | 'write' | 'triage' | 'read'
export type Association = 'OWNER' | 'MEMBER' | 'COLLABORATOR' | 'CONTRIBUTOR' | 'NONE'
export type Level = 'read' | 'write'
export type Permission =
  | 'actions'
  | 'checks'
  | 'contents'
  | 'issues'
  | 'metadata'
  | 'pull_requests'
  | 'statuses'
  | 'workflows'

export interface FakeToken {
  readonly login: string
  /** Scopes of a classic token; null for a fine-grained one. */
  scopes: readonly string[] | null
  /** Of a fine-grained token. */
  permissions: Partial<Record<Permission, Level>>
  /** Repositories that a fine-grained token is for; null: all of its account. */
  repositories: readonly string[] | null
  /** As GitHub writes it: `2026-12-01 10:00:00 UTC`. */
  expires: string | null
  revoked: boolean
  /** The organization's page where the token has to be authorized; null: it needn't or is. */
  sso: string | null
}

export interface FakeUser {
  readonly login: string
  readonly type: 'User' | 'Bot'
}

export interface FakeComment {
  readonly id: number
  readonly user: FakeUser | null
  body: string
  readonly created_at: string
}

export interface FakeReview {
  readonly id: number
  readonly user: FakeUser
  state: 'APPROVED' | 'CHANGES_REQUESTED' | 'COMMENTED' | 'DISMISSED' | 'PENDING'
  readonly body: string
  readonly submitted_at: string | null
}

export interface ThreadComment extends FakeComment {
  state: 'PENDING' | 'SUBMITTED'
}

export interface FakeThread {
  readonly node_id: string
  readonly pull: FakePull
  readonly path: string
  line: number | null
  readonly side: 'LEFT' | 'RIGHT'
  resolved: boolean
  outdated: boolean
  readonly comments: ThreadComment[]
}

export interface FakeIssue {
  readonly number: number
  readonly repository: FakeRepository
  readonly user: FakeUser
  title: string
  body: string | null
  state: 'open' | 'closed'
  readonly labels: Set<string>
  readonly comments: FakeComment[]
  readonly created_at: string
  updated_at: string
}

export interface FakePull extends FakeIssue {
  readonly node_id: string
  /** null: the fork is deleted. */
  readonly head: { repository: string | null; readonly branch: string; readonly owner: string }
  /** The last commit that its branch had while it was open. */
  commit: string
  base: string
  draft: boolean
  merged: boolean
  merge_commit: string | null
  /** How often it is still asked before GitHub knows; then `conflict` tells. */
  computing: number
  conflict: boolean
  readonly requested: Set<string>
  /** Slugs of teams of the owner. */
  readonly requestedTeams: Set<string>
  readonly reviews: FakeReview[]
  readonly threads: FakeThread[]
  auto_merge: { readonly method: MergeMethod; readonly by: string } | null
  queued: boolean
  stack: { readonly number: number; readonly position: number; readonly size: number } | null
}

export type MergeMethod = 'merge' | 'squash' | 'rebase'

export type Status = 'queued' | 'in_progress' | 'completed' | 'waiting'
export type Conclusion =
  | 'success'
  | 'failure'
  | 'neutral'
  | 'cancelled'
  | 'skipped'
  | 'timed_out'
  | 'action_required'
  | 'stale'
  | 'startup_failure'

export interface FakeApp {
  readonly id: number
  readonly slug: string
}

export interface CheckRun {
  /** Of Actions, also that of the job. */
  readonly id: number
  readonly name: string
  readonly app: FakeApp
  readonly commit: string
  status: Status
  conclusion: Conclusion | null
  readonly details_url: string
  /** null: of another app than Actions. */
  readonly run: WorkflowRun | null
  log: string | null
  /** Logs are kept for a time. */
  logExpired: boolean
}

export interface WorkflowRun {
  readonly id: number
  readonly name: string
  readonly event: string
  readonly commit: string
  attempt: number
  /** Set where it ended without a job. */
  conclusion: Conclusion | null
  updated_at: string
}

export interface CommitStatus {
  readonly id: number
  readonly context: string
  readonly commit: string
  readonly state: 'error' | 'failure' | 'pending' | 'success'
  readonly target_url: string | null
  readonly created_at: string
}

export interface Protection {
  /** Of the older kind of protection; null: none. */
  classic: readonly { readonly context: string; readonly app_id: number | null }[] | null
  /** Rules of rulesets, as `rules/branches` answers them. */
  rules: readonly { readonly type: string; readonly parameters?: Readonly<Record<string, unknown>> }[]
  approvals: number
  queue: boolean
  /** Those who administer the repository are bound too. */
  enforceAdmins: boolean
}

export interface FakeRepository {
  readonly id: number
  /** `owner/name`; changes with a rename. */
  full_name: string
  readonly former_names: string[]
  /** Its name in git, which a rename leaves. */
  readonly git_name: string
  private: boolean
  archived: boolean
  default_branch: string
  allow_merge_commit: boolean
  allow_squash_merge: boolean
  allow_rebase_merge: boolean
  allow_auto_merge: boolean
  /** Not in private repositories of some plans. */
  drafts: boolean
  readonly roles: Map<string, Role>
  readonly associations: Map<string, Association>
  readonly labels: Set<string>
  readonly issues: Map<number, FakeIssue>
  readonly pulls: Map<number, FakePull>
  readonly checkRuns: CheckRun[]
  readonly runs: WorkflowRun[]
  readonly statuses: CommitStatus[]
  readonly protection: Map<string, Protection>
  /** Numbers of issues that were deleted. */
  readonly deleted: Set<number>
}
