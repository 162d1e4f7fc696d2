import type { ProjectId, TaskId } from '../../src-shared/contract/ids.ts'
import type {
  ForgeTrouble,
  PullRequestCheck,
  PullRequestRef,
  PullRequestState,
} from '../../src-shared/contract/pull-requests.ts'
import type { ForgeCheck, ForgeComment, ForgeReview, ForgeThread } from './forges.ts'

/** What one kind of question to a forge found last. A failed one leaves what was known. */
export interface PullRequestPart<T> {
  readonly items: readonly T[]
  /** ISO 8601; null: never answered. */
  readonly read_at: string | null
  readonly error: ForgeTrouble | null
}

export type KnownCheck = ForgeCheck &
  Pick<PullRequestCheck, 'log_tail' | 'inherited'> & {
    /** When it was first seen in this state at this head, ISO 8601. */
    readonly since: string
  }

/** A task's pull request as the forge told last, and what Copse did to it. */
export interface PullRequestRecord {
  readonly task_id: TaskId
  readonly project_id: ProjectId
  readonly number: number
  readonly url: string
  readonly state: PullRequestState
  readonly title: string
  readonly target: string
  /** The branch at the forge, and `owner/name` of its repository. */
  readonly branch: string
  readonly repository: string
  /** The commit at the forge, and when it was first seen there, ISO 8601. */
  readonly head: string
  readonly head_since: string
  /** The commit that Copse pushed last; null before its first push. */
  readonly pushed: string | null
  readonly mergeable: boolean | null
  readonly merge_commit: string | null
  readonly queued: boolean
  readonly auto_merge: boolean
  readonly checks: PullRequestPart<KnownCheck> & { readonly seen: 'all' | 'some' | 'none' | null }
  readonly threads: PullRequestPart<ForgeThread>
  readonly reviews: PullRequestPart<ForgeReview>
  /** Those in no thread. */
  readonly comments: PullRequestPart<ForgeComment>
  /** Since a person's last act on the task, which is the transition `rounds_since`; null: none yet. */
  readonly rounds: number
  readonly rounds_since: string | null
  /** Fingerprints of what was given to the coder, each once a head. */
  readonly given: readonly string[]
  /** It is merged, and what follows from that is done: it isn't asked for any more. */
  readonly settled: boolean
  readonly synced_at: string | null
  /** When everything was read last, and the time of its last change by the forge's clock. */
  readonly read_all_at: string | null
  readonly updated_there: string | null
  readonly last_error: ForgeTrouble | null
  readonly next_poll_at: string
  /** Number of failed polls in a row. */
  readonly failures: number
  readonly created_at: string
  readonly updated_at: string
}

export interface PullRequestQueries {
  of(task_id: TaskId): PullRequestRecord | null
  refOf(task_id: TaskId): PullRequestRef | null
  byNumber(project_id: ProjectId, number: number): PullRequestRecord | null
  /** Returns the pull requests that the forge may still change, by the time of their next poll. */
  live(): readonly PullRequestRecord[]
  put(record: PullRequestRecord): void
  delete(task_id: TaskId): void
}

/** What is to be written to a forge. Recorded before it is sent, and looked for there before it is sent again. */
export type ForgeIntent =
  | {
      readonly kind: 'open'
      readonly draft: boolean | null
      readonly title: string | null
      readonly body: string | null
    }
  | { readonly kind: 'reply'; readonly thread: string; readonly body: string; readonly resolve: boolean }
  /** Point the pull request at another branch, if it still goes to `from`. The last one tells what Copse has chosen. */
  | { readonly kind: 'retarget'; readonly from: string; readonly to: string }
  /** Close the pull request with its task, which was cancelled or archived. */
  | { readonly kind: 'close'; readonly number: number }
  | { readonly kind: 'comment'; readonly number: number; readonly body: string }
  | { readonly kind: 'close_issue'; readonly number: number }
  | {
      readonly kind: 'delete_branch'
      readonly number: number
      /** `owner/name` of the branch's repository. */
      readonly repository: string
      readonly branch: string
      /** The merged commit: the branch goes only while it is there. */
      readonly head: string
    }
  /** Nothing to write: the issue was closed there, and its task may follow if it still is after a while. */
  | { readonly kind: 'follow_issue'; readonly number: number }
  | { readonly kind: 'label_issue'; readonly number: number; readonly label: string; readonly on: boolean }

export interface ForgeIntentRecord {
  /** Stands in the marker of what is written. */
  readonly id: string
  readonly task_id: TaskId
  readonly project_id: ProjectId
  readonly intent: ForgeIntent
  /** What makes it the same wish; null: each is its own. */
  readonly key: string | null
  /** Who asked: `user:<id>`, `operator`, `agent:<id>` or `system`. */
  readonly triggered_by: string
  /** It waits for the next push. */
  readonly with_push: boolean
  readonly created_at: string
  readonly settled_at: string | null
  /** Why it was given up; null if it was done. */
  readonly error: string | null
}

export interface ForgeIntentQueries {
  get(id: string): ForgeIntentRecord | null
  put(record: ForgeIntentRecord): void
  /** Returns the unsettled ones of a task (null: of all), oldest first. */
  pending(task_id: TaskId | null): readonly ForgeIntentRecord[]
  /** Returns a task's intent with this key, settled or not. */
  byKey(task_id: TaskId, key: string): ForgeIntentRecord | null
}
