/** What a job's token opens of a task's arrivals. */
export interface JobGrant {
  readonly job_id: string
  readonly task_id: string
  /** `late`: the job has lost its lease. It reads nothing, and may bring its work once, apart from the task's. */
  readonly access: 'work' | 'late'
  /**
   * Aborts once the token opens no more of this: at the end of the job, or when its fence rises. Its reason is the
   * `ApiError` that answers what is under way.
   */
  readonly ended: AbortSignal
  /** The job's room for pushes and logs together, in MB, as messages name it. */
  readonly max_push_mb: number
  /** Called when a late push was taken. */
  onBrought?(): void
  /** Counts bytes that the job has sent; returns false once they are more than its room. */
  take(bytes: number): boolean
}

/** Finds what a token opens. The tokens of jobs open nothing else, and no other token opens this. */
export interface JobAccess {
  /** Returns null for a token that isn't this job's, or no longer valid. */
  find(job_id: string, token: string): Promise<JobGrant | null>
}
