/** Every code that the API can answer, with its HTTP status. */
export const errorStatus = {
  invalid_json: 400,
  validation_failed: 400,
  workflow_invalid: 400,
  not_a_git_repository: 400,
  repository_has_no_commits: 400,
  unknown_role: 400,
  cross_project_dependency: 400,
  chapters_incomplete: 400,
  secret_ref_forbidden: 400,
  missing_token: 401,
  invalid_token: 401,
  token_expired: 401,
  invalid_credentials: 401,
  invalid_refresh_token: 401,
  refresh_token_reused: 401,
  admin_required: 403,
  not_a_member: 403,
  owner_required: 403,
  jwt_required: 403,
  humans_only: 403,
  forbidden: 403,
  daemon_token_required: 403,
  audience_mismatch: 403,
  registration_closed: 403,
  invite_required: 403,
  invite_invalid: 403,
  other_user: 403,
  read_only_token: 403,
  not_found: 404,
  agent_paused: 409,
  project_paused: 409,
  dependency_gate: 409,
  version_conflict: 409,
  integration_exists: 409,
  already_claimed: 409,
  not_claimable: 409,
  invalid_transition: 409,
  entry_barrier: 409,
  task_terminal: 409,
  not_at_gate: 409,
  workspace_locked: 409,
  PARENT_WORKSPACE_REQUIRED: 409,
  reset_not_required: 409,
  review_not_ready: 409,
  work_changed: 409,
  dependency_cycle: 409,
  states_in_use: 409,
  transition_in_use: 409,
  email_taken: 409,
  not_registered: 409,
  last_owner: 409,
  last_admin: 409,
  project_busy: 409,
  repo_in_use: 409,
  already_linked: 409,
  secret_bound: 409,
  template_protected: 409,
  recovery_not_available: 409,
  execution_not_running: 409,
  lease_lost: 409,
  offset_mismatch: 409,
  not_arrived: 409,
  runner_version: 409,
  runner_taken: 409,
  not_queued: 409,
  already_answered: 409,
  merge_target_dirty: 409,
  merge_conflict: 409,
  base_red: 409,
  no_steps: 409,
  not_landing: 409,
  unmerge_too_late: 409,
  pull_requests_disabled: 409,
  pull_request_closed: 409,
  pull_request_open: 409,
  nothing_to_push: 409,
  push_rejected: 409,
  not_mergeable: 409,
  not_supported: 409,
  nothing_to_revert: 409,
  workspace_failed: 409,
  limit_reached: 409,
  wip_limit: 409,
  containment_unavailable: 409,
  runner_busy: 409,
  runner_unreachable: 409,
  runner_needs_trust: 409,
  needs_person: 409,
  branch_missing: 409,
  repository_missing: 409,
  transition_blocked: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  integration_disabled: 422,
  rate_limited: 429,
  internal_error: 500,
  external_sync_failed: 502,
} as const satisfies Record<string, number>

export type ErrorCode = keyof typeof errorStatus
export const errorCodes = Object.keys(errorStatus) as [ErrorCode, ...ErrorCode[]]

/** The rules said no: a value inside the engine, an error body at the doors. */
export interface Refusal {
  readonly code: ErrorCode
  readonly message: string
  readonly details?: Readonly<Record<string, unknown>>
  /** Where a code has another status than its own; never sent. */
  readonly status?: number
}

/** The body of every answer that is not a success. */
export interface ErrorBody {
  readonly error: Refusal
}

/** The refusal that an answer's body tells; null where it is none of this contract. */
export function refusalIn(body: unknown): Refusal | null {
  if (!isRecord(body) || !isRecord(body['error'])) return null
  const { code, message, details } = body['error']
  if (typeof code !== 'string' || !isErrorCode(code) || typeof message !== 'string') return null
  return { code, message, ...(isRecord(details) && { details }) }
}
const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(errorStatus, code)
const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

/** What every door says of a bug, whose text goes to the log only. */
export const internalError: Refusal = {
  code: 'internal_error',
  message: 'Something went wrong in Copse. Try again; the log has details.',
}

/** A refusal as an exception, for the places that cannot return one: handlers and clients. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: ErrorCode
  readonly details: Readonly<Record<string, unknown>> | undefined
  readonly status: number

  constructor(refusal: Refusal, options?: ErrorOptions) {
    super(refusal.message, options)
    this.code = refusal.code
    this.details = refusal.details
    this.status = refusal.status ?? errorStatus[refusal.code]
  }

  toBody(): ErrorBody {
    return { error: { code: this.code, message: this.message, ...(this.details && { details: this.details }) } }
  }
}
