import type { Integration, SyncFailure, SyncProgress } from '../../src-shared/contract/integrations.ts'
import type { ProjectId, TaskId } from '../../src-shared/contract/ids.ts'
import type { Repository } from '../domain/integration/issue-address.ts'
import type { Cancellable } from './cancellable.ts'

/** A cycle that has begun: where it goes on. */
export interface SyncCursor extends SyncProgress {
  /** null: at the first page. */
  readonly next_url: string | null
  /** What the cycle after this one asks from. */
  readonly next_since: string
  readonly page_size: number
}

export type IntegrationRecord = Omit<Integration, 'progress' | 'syncing' | 'next_poll_at'> & {
  readonly next_poll_at: string
  readonly walk: SyncCursor | null
  /** Only what changed after this is asked for; null: everything. */
  readonly since: string | null
  /** Of what the last cycle got, where the next one asks the same. */
  readonly etag: string | null
  /** The tracker's limits forbid a request before this. */
  readonly not_before: string | null
  /** Cycles that failed, one after the other. */
  readonly failures: number
  /** Under these names issues of the repository may be linked, too. */
  readonly former_names: readonly Repository[]
}

/** Which issue a task stands for; `task_id` is null when the task was deleted. */
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
  /** As `next_url` of the page before; null: the first page. */
  readonly url: string | null
  readonly since: string | null
  readonly etag: string | null
  readonly page_size: number
}

export interface IssuePageResponse {
  /** What the tracker sent, as it sent it; null: nothing has changed since `etag`. */
  readonly items: readonly unknown[] | null
  readonly next_url: string | null
  /** It came from another address than the one that was asked: the repository has another name by now. */
  readonly redirected: boolean
  readonly pages_total: number | null
  readonly etag: string | null
  /** The tracker's clock; milliseconds since the epoch. */
  readonly date: number | null
  /** The tracker's limits forbid another request before this; milliseconds since the epoch. */
  readonly not_before: number | null
}

/** Reads issues where they are. */
export interface IssueTrackers {
  /** Throws `TrackerError`. */
  page(request: PageRequest, options: Cancellable): Promise<IssuePageResponse>
}

/** A tracker could not be read. Neither the message nor anything else of it holds the token or what the tracker said. */
export class TrackerError extends Error {
  override readonly name = 'TrackerError'
  readonly code: SyncFailure
  /** Not to be asked again before this; milliseconds since the epoch. */
  readonly not_before: number | null

  constructor(code: SyncFailure, message: string, not_before: number | null = null) {
    super(message)
    this.code = code
    this.not_before = not_before
  }
}
