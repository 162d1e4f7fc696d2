import type { PullRequestCan, PullRequestState, TokenRight } from '../../src-shared/contract/pull-requests.ts'
import type { ForgeFailure } from '../../src-shared/contract/pull-requests.ts'
import type { Cancellable } from './cancellable.ts'
import type { IntegrationRecord } from './issue-trackers.ts'

/** A project's repository at its forge, and what opens it. */
export type ForgeSource = Pick<IntegrationRecord, 'platform' | 'base_url' | 'owner' | 'repo' | 'token_secret_ref'>

export type MergeMethod = 'merge' | 'squash' | 'rebase'

/** What a token may do, as far as reading alone tells. */
export interface TokenCheck {
  readonly can: PullRequestCan
  readonly rights: readonly TokenRight[]
  /** ISO 8601; null: never, or the forge doesn't tell. */
  readonly token_expires_at: string | null
}

export interface ForgeRepository {
  /** `owner/name` as the forge has it now; another one after a rename. */
  readonly full_name: string
  readonly clone_url: string
  readonly ssh_url: string | null
  readonly default_branch: string
  readonly archived: boolean
  /** The token's account may push; null: not told. */
  readonly may_push: boolean | null
  /** Methods that the repository allows, its preferred one first; all where the forge doesn't tell. */
  readonly methods: readonly MergeMethod[]
}

/** A branch at the forge; `owner` is another than the repository's for a fork. */
export interface ForgeBranch {
  /** `owner/name` of its repository. */
  readonly repository: string
  readonly branch: string
}

export interface NewPull {
  readonly title: string
  readonly body: string
  readonly head: ForgeBranch
  readonly target: string
  readonly draft: boolean
  readonly labels: readonly string[]
  /** Logins. */
  readonly reviewers: readonly string[]
}

/** A pull request without its checks and threads. */
export interface Pull {
  readonly number: number
  readonly url: string
  readonly state: PullRequestState
  /** Without the forge's prefix for drafts. */
  readonly title: string
  readonly body: string
  readonly author: string
  readonly head: { readonly commit: string; readonly repository: string | null; readonly branch: string }
  readonly target: string
  /** null: the forge still works it out. */
  readonly mergeable: boolean | null
  /** The commit on the target that it became; null while it isn't merged. */
  readonly merge_commit: string | null
  /** It stands in the forge's merge queue. */
  readonly queued: boolean
  /** The forge merges it once it may. */
  readonly auto_merge: boolean
  readonly updated_at: string
}

export interface PullChange {
  readonly title?: string
  readonly body?: string
  readonly target?: string
  readonly state?: 'open' | 'closed'
  readonly draft?: boolean
}

export interface ForgeCheck {
  readonly name: string
  readonly state: 'queued' | 'running' | 'passed' | 'failed' | 'cancelled' | 'skipped'
  /** null: not known, or the target requires none. */
  readonly required: boolean | null
  readonly url: string | null
  /** What `log` and `rerun` take; null where the forge has neither. */
  readonly job: string | null
}

export interface ForgeChecks {
  /** Whether these are all; `some`: a kind of checks is refused to the token. */
  readonly seen: PullRequestCan['checks']
  readonly checks: readonly ForgeCheck[]
}

export interface ForgeComment {
  readonly id: string
  readonly author: string
  /** The author may write to the repository; null: not told. */
  readonly is_member: boolean | null
  readonly body: string
  readonly created_at: string
}

/** What a comment is on. GitLab numbers pull requests and issues apart. */
export interface CommentTarget {
  readonly kind: 'pull' | 'issue'
  readonly number: number
}

export interface ForgeThread {
  readonly id: string
  /** null: about no file. */
  readonly path: string | null
  /** 1-based; null where the line is gone. */
  readonly line: number | null
  readonly side: 'old' | 'new'
  readonly resolved: boolean
  readonly outdated: boolean
  readonly url: string
  /** Oldest first; at least one. */
  readonly comments: readonly ForgeComment[]
}

/** The last word of a reviewer. */
export interface ForgeReview {
  readonly author: string
  readonly is_member: boolean | null
  readonly state: 'approved' | 'changes_requested' | 'commented' | 'dismissed' | 'requested'
  readonly body: string
  readonly submitted_at: string | null
}

/**
 * Pull requests at forges. All methods throw `ForgeError`, and answer what the forge says at that moment; what hasn't
 * changed costs the forge a 304 where it has ETags.
 */
export interface Forges {
  check(source: ForgeSource, options: Cancellable): Promise<TokenCheck>
  repository(source: ForgeSource, options: Cancellable): Promise<ForgeRepository>
  /** Returns the pull requests from a branch in every state, newest first, of the first page only. */
  find(source: ForgeSource, head: ForgeBranch, options: Cancellable): Promise<readonly Pull[]>
  /**
   * Returns the numbers of the repository's open pull requests whose head or target is this branch, which may be of
   * another repository.
   */
  openOf(source: ForgeSource, branch: ForgeBranch, options: Cancellable): Promise<readonly number[]>
  open(source: ForgeSource, pull: NewPull, options: Cancellable): Promise<Pull>
  read(source: ForgeSource, number: number, options: Cancellable): Promise<Pull>
  change(source: ForgeSource, number: number, change: PullChange, options: Cancellable): Promise<Pull>
  /** Merges `head`, or throws `not_mergeable`. Answers the commit on the target if the forge tells it. */
  merge(
    source: ForgeSource,
    number: number,
    merge: { readonly method: MergeMethod; readonly head: string },
    options: Cancellable,
  ): Promise<string | null>
  /** Leaves the merge to the forge's queue or auto-merge, as the target has it. Throws `not_supported` without both. */
  mergeWhenReady(
    source: ForgeSource,
    number: number,
    merge: { readonly method: MergeMethod; readonly head: string },
    options: Cancellable,
  ): Promise<'queued' | 'auto_merge'>
  checks(
    source: ForgeSource,
    pull: Pick<Pull, 'number' | 'head' | 'target'>,
    options: Cancellable,
  ): Promise<ForgeChecks>
  /** Returns the states of the checks of a commit, or of a branch's last one, for what is red on the target too. */
  checksOf(source: ForgeSource, ref: string, options: Cancellable): Promise<readonly ForgeCheck[]>
  /** Returns the end of a job's log, at most 64 KiB; null if it has none. */
  log(source: ForgeSource, job: string, options: Cancellable): Promise<string | null>
  rerun(source: ForgeSource, job: string, options: Cancellable): Promise<void>
  threads(source: ForgeSource, number: number, options: Cancellable): Promise<readonly ForgeThread[]>
  reviews(source: ForgeSource, number: number, options: Cancellable): Promise<readonly ForgeReview[]>
  /** Returns the comments that are in no thread, oldest first. */
  comments(source: ForgeSource, on: CommentTarget, options: Cancellable): Promise<readonly ForgeComment[]>
  /** Writes a comment that is in no thread. */
  comment(source: ForgeSource, on: CommentTarget, body: string, options: Cancellable): Promise<ForgeComment>
  reply(source: ForgeSource, number: number, thread: string, body: string, options: Cancellable): Promise<ForgeComment>
  resolve(source: ForgeSource, number: number, thread: string, options: Cancellable): Promise<void>
  /** Answers whether an issue is open, and its labels. */
  issue(
    source: ForgeSource,
    number: number,
    options: Cancellable,
  ): Promise<{ readonly state: 'open' | 'closed'; readonly labels: readonly string[] }>
  closeIssue(source: ForgeSource, number: number, options: Cancellable): Promise<void>
  /** Adds or takes a label; a label that the repository lacks is made. */
  labelIssue(source: ForgeSource, number: number, label: string, on: boolean, options: Cancellable): Promise<void>
}

/** A forge refused, or couldn't be asked. Neither its message nor its fields contain the token. */
export class ForgeError extends Error {
  override readonly name = 'ForgeError'
  readonly code: ForgeFailure
  /** The missing right, as the forge names it. */
  readonly right: string | null
  /** Where a person gives the right or signs in. */
  readonly url: string | null
  /** Earliest time of the next request, in milliseconds since the epoch. */
  readonly not_before: number | null

  constructor(
    code: ForgeFailure,
    message: string,
    more: { readonly right?: string; readonly url?: string; readonly not_before?: number | null } = {},
  ) {
    super(message)
    this.code = code
    this.right = more.right ?? null
    this.url = more.url ?? null
    this.not_before = more.not_before ?? null
  }
}
