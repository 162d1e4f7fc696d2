import type { Integration, SyncFailure, SyncProgress } from '../../src-shared/contract/integrations.ts'
import type { ProjectId, TaskId } from '../../src-shared/contract/ids.ts'
import type { Repository } from '../integrations/rules/issue-address.ts'
import type { Cancellable } from './cancellable.ts'

/** An unfinished sync cycle and where it continues. */
export interface SyncCursor extends SyncProgress {
  /** null: the first page. */
  readonly next_url: string | null
  /** The start time that the next cycle asks for. */
  readonly next_since: string
  readonly page_size: number
}

export type IntegrationRecord = Omit<Integration, 'progress' | 'syncing' | 'next_poll_at'> & {
  readonly next_poll_at: string
  readonly walk: SyncCursor | null
  /** Only issues that changed after this are requested; null: all. */
  readonly since: string | null
  /** The etag of the last cycle's response, if the next one sends the same request. */
  readonly etag: string | null
  /** Earliest time of the next request, by the tracker's limits. */
  readonly not_before: string | null
  /** Number of consecutive failed cycles. */
  readonly failures: number
  /** Former names of the repository; its issues may be linked under them. */
  readonly former_names: readonly Repository[]
}

/** The issue that a task stands for; `task_id` is null if the task was deleted. */
export interface ExternalLinkRecord {
  readonly global_id: string
  readonly project_id: ProjectId
  readonly task_id: TaskId | null
  readonly number: number
  readonly url: string
  readonly created_at: string
}

export interface PageRequest {
  readonly source: Pick<IntegrationRecord, 'platform' | 'base_url' | 'owner' | 'repo' | 'token_secret_ref'>
  /** `next_url` of the page before; null: the first page. */
  readonly url: string | null
  /** `all`: closed ones too, which only those that changed after `since` can be asked for. */
  readonly state: 'open' | 'all'
  readonly since: string | null
  readonly etag: string | null
  readonly page_size: number
}

export interface IssuePageResponse {
  /** The tracker's unparsed items; null: nothing has changed since `etag`. */
  readonly items: readonly unknown[] | null
  readonly next_url: string | null
  /** The response came from another address than the requested one: the repository was renamed. */
  readonly redirected: boolean
  readonly pages_total: number | null
  readonly etag: string | null
  /** The tracker's clock, in milliseconds since the epoch. */
  readonly date: number | null
  /** Earliest time of the next request by the tracker's limits, in milliseconds since the epoch. */
  readonly not_before: number | null
}

/** Reads issues from trackers. */
export interface IssueTrackers {
  /** Throws `TrackerError`. */
  page(request: PageRequest, options: Cancellable): Promise<IssuePageResponse>
}

/** A tracker could not be read. Neither its message nor its fields contain the token or the tracker's response. */
export class TrackerError extends Error {
  override readonly name = 'TrackerError'
  readonly code: SyncFailure
  /** Earliest time of the next request, in milliseconds since the epoch. */
  readonly not_before: number | null

  constructor(code: SyncFailure, message: string, not_before: number | null = null) {
    super(message)
    this.code = code
    this.not_before = not_before
  }
}
