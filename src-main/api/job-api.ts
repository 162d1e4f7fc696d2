import { ApiError } from '../../src-shared/contract/errors.ts'
import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { Jobs } from '../jobs/jobs.ts'
import type { JobSeeker, RunnerTokens } from '../ports/runner-tokens.ts'

export type { JobCall } from '../jobs/jobs.ts'

/** What runners ask of the service. Throws `ApiError` for every refusal. */
export interface JobApi extends Pick<
  Jobs,
  'next' | 'accept' | 'file' | 'beat' | 'log' | 'ask' | 'finish' | 'isOf' | 'hasRun'
> {
  /** Returns who a token belongs to. */
  seekerOf(token: string | null): JobSeeker
  /** Returns whether a task has a worktree. */
  hasWorktree(task_id: TaskId): boolean
}

export function createRunnerTokens(newToken: () => string): RunnerTokens {
  const known = new Map<string, JobSeeker>()
  return {
    make: (runner_id, job_id) => {
      const token = newToken()
      known.set(token, { runner_id, job_id: job_id ?? null })
      return { token, end: () => void known.delete(token) }
    },
    find: (token) => known.get(token) ?? null,
  }
}

export function createJobApi(
  jobs: Jobs,
  tokens: Pick<RunnerTokens, 'find'>,
  hasWorktree: JobApi['hasWorktree'],
): JobApi {
  return {
    ...jobs,
    hasWorktree,
    seekerOf: (token) => {
      if (token === null) throw new ApiError({ code: 'missing_token', message: 'Send the token of the runner.' })
      const found = tokens.find(token)
      if (found !== null) return found
      throw new ApiError({ code: 'invalid_token', message: 'This is no token of a runner.' })
    },
  }
}
