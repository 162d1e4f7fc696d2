import { ApiError } from '../../src-shared/contract/errors.ts'

/** Failures of the adapters that a caller can do something about, by the `code` they carry. */
const known = {
  not_a_git_repository: 'not_a_git_repository',
  repository_has_no_commits: 'repository_has_no_commits',
  invalid_log_name: 'not_found',
  git_failed: 'workspace_failed',
  setup_failed: 'workspace_failed',
  outside_worktree: 'workspace_failed',
  unfinished_merge: 'workspace_failed',
  unverified: 'workspace_failed',
} as const

/** Maps what a handler threw: refusals pass, known failures get their code, anything else stays a bug. */
export function toApiError(error: unknown): unknown {
  if (error instanceof ApiError || !(error instanceof Error) || !('code' in error)) return error
  const code = known[error.code as keyof typeof known]
  return code === undefined ? error : new ApiError({ code, message: error.message }, { cause: error })
}
