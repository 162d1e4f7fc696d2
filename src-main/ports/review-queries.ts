import type { RepoId, ReviewId, TaskId } from '../../src-shared/contract/ids.ts'
import type { Review } from '../../src-shared/contract/reviews.ts'

export type ReviewRecord = Review

/** Attempts at a review gate. */
export interface ReviewQueries {
  put(record: ReviewRecord): void
  get(id: ReviewId): ReviewRecord | null
  latest(task_id: TaskId): ReviewRecord | null
  byTask(task_id: TaskId): readonly ReviewRecord[]
}

/** The result of a base branch's last checks. */
export interface BaseHealthRecord {
  readonly repo_id: RepoId
  readonly branch: string
  /** The commit that was tested. */
  readonly commit: string
  readonly health: 'green' | 'red'
  /** The newest commit known to have passed. */
  readonly last_green: string | null
  /** The command that failed, for `red`. */
  readonly step: string | null
  readonly exit_code: number | null
  readonly output_tail: string
  readonly checked_at: string
}

export interface BaseHealthQueries {
  get(repo_id: RepoId, branch: string): BaseHealthRecord | null
  put(record: BaseHealthRecord): void
  ofRepo(repo_id: RepoId): readonly BaseHealthRecord[]
}
