import type { ExecutionId, JobId, RunnerId } from '../../src-shared/contract/ids.ts'
import type { JobInput, JobSpec } from '../../src-shared/contract/jobs.ts'

/** How far a log of a job has come. */
export interface JobLogMark {
  /** How many bytes of it are kept. */
  readonly offset: number
  /** How long the file was that keeps them; what it has beyond was written without a mark. */
  readonly size: number
}

/** A job that a runner has taken, so that it outlives the service; for a day after its end, its fences alone. */
export interface JobRecord {
  readonly id: JobId
  readonly runner_id: RunnerId
  /** Of a folder that belongs to no task, the folder's name. */
  readonly task_id: string
  /** null: its steps belong to no run. */
  readonly execution_id: ExecutionId | null
  readonly state: 'accepted' | 'over'
  readonly fence: number
  /** The runner's process that took it; null: none did. */
  readonly instance: string | null
  /** The hash of every token that was given out, with its fence. */
  readonly tokens: readonly (readonly [hash: string, fence: number])[]
  /** What the runner is told, without the run's own token; null once it has it. */
  readonly spec: Omit<JobSpec, 'job'> | null
  /** What it goes on with once the runner has the rest. */
  readonly ground: JobGround
  /** What the runner has not seen yet. */
  readonly inputs: readonly JobInput[]
  readonly last_input: number
  readonly logs: Readonly<Record<string, JobLogMark>>
  readonly sent_bytes: number
  readonly stopping: boolean
  /** The fence with which it was finished; null: it wasn't. */
  readonly finished_fence: number | null
  readonly over_at: string | null
}

/** Where a job works, and what it may fetch. */
export interface JobGround extends Pick<JobSpec, 'folder' | 'files'> {
  /** What was lent to it. */
  readonly loan: string
}

export interface JobQueries {
  get(id: string): JobRecord | null
  accepted(): readonly JobRecord[]
  put(record: JobRecord): void
  /** Deletes the jobs that ended before a time. */
  deleteOver(before: string): void
}
