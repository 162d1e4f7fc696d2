import { ApiError } from '../../src-shared/contract/errors.ts'

/** Adapter failures that a caller can act on, by `code`. */
const known = {
  not_a_git_repository: 'not_a_git_repository',
  repository_has_no_commits: 'repository_has_no_commits',
  repository_missing: 'repository_missing',
  invalid_log_name: 'not_found',
  git_failed: 'workspace_failed',
  branch_missing: 'branch_missing',
  setup_failed: 'workspace_failed',
  outside_worktree: 'workspace_failed',
  unfinished_merge: 'workspace_failed',
  unverified: 'workspace_failed',
} as const

/** Maps what a handler threw: refusals pass, known failures get their code, anything else stays a bug. */
export function toApiError(error: unknown): unknown {
  if (error instanceof ApiError || !(error instanceof Error)) return error
  const trouble = troubleOf(codeOf(error)) ?? troubleOf(codeOf(error.cause))
  if (trouble !== null) return new ApiError({ code: 'internal_error', message: trouble }, { cause: error })
  const code = known[codeOf(error) as keyof typeof known]
  if (code === undefined) return error
  const details = 'command' in error && error.command !== undefined ? { command: error.command } : undefined
  return new ApiError({ code, message: error.message, ...(details && { details }) }, { cause: error })
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')

/** Returns the message for a failed database write: nothing of the request was saved. */
function troubleOf(code: string): string | null {
  if (/^SQLITE_FULL/.test(code)) return 'The disk is full. Nothing was changed. Free some space, then try again.'
  if (/^SQLITE_(BUSY|LOCKED)/.test(code))
    return 'Another program holds the database, so nothing was changed. Try again.'
  if (/^SQLITE_READONLY/.test(code))
    return "The database can't be written, so nothing was changed. Check its permissions and its disk."
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code))
    return 'The database is damaged. Stop Copse: it says more when it starts, and keeps a copy first.'
  return /^SQLITE_IOERR/.test(code)
    ? 'The disk reports an error. Check the disk, and keep a copy of the data folder.'
    : null
}
