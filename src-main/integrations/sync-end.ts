import type { ProjectId } from '../../src-shared/contract/ids.ts'
import type { SyncError, SyncFailure } from '../../src-shared/contract/integrations.ts'
import { isSameRepository, type Repository } from './rules/issue-address.ts'
import { nextPoll } from './rules/next-poll.ts'
import type { Tx } from '../core/event-feed.ts'
import {
  TrackerError,
  type IntegrationRecord,
  type IssuePageResponse,
  type SyncCursor,
} from '../ports/issue-trackers.ts'
import type { SyncServices } from './sync-services.ts'
import { toIntegration } from './to-integration.ts'

/** Temporary failures, or ones that a new token fixes: the cycle continues where it stopped. */
const passing: ReadonlySet<SyncFailure> = new Set([
  'missing_secret',
  'unusable_secret',
  'secret_bound',
  'unauthorized',
  'rate_limited',
  'unreachable',
  'timed_out',
  'tracker_failed',
  'internal_error',
])

/** Saves the progress after a page, from which the cycle continues even after a crash. */
export function saveStep(tx: Tx, record: IntegrationRecord, step: SyncCursor, answer: IssuePageResponse): void {
  save(tx, { ...record, walk: step, former_names: namesOf(record, answer) }, true)
}

/** Saves a successful cycle: the next one asks for changes since this one started. */
export function finish(
  deps: SyncServices,
  tx: Tx,
  record: IntegrationRecord,
  step: SyncCursor,
  answer: IssuePageResponse,
): void {
  // Without new issues the same request is sent again, and the response may be "not modified".
  const asksAgain = record.since !== null && step.pages === 1 && step.imported === 0 && step.errors === 0
  const saved: IntegrationRecord = {
    ...record,
    last_polled_at: tx.now(),
    last_error: null,
    walk: null,
    since: asksAgain ? record.since : step.next_since,
    etag: asksAgain ? answer.etag : null,
    not_before: isoOf(answer.not_before),
    failures: 0,
    former_names: namesOf(record, answer),
    next_poll_at: nextPollAt(deps, record, 0, answer.not_before),
  }
  save(tx, saved, false)
  tx.emit('ExternalSyncCompleted', {
    project_id: record.project_id,
    integration_id: record.id,
    imported_count: step.imported,
    skipped_count: step.skipped,
    error_count: step.errors,
  })
}

/** Saves a failed cycle, keeping `last_polled_at` and its progress; returns the saved error. */
export function fail(deps: SyncServices, project_id: ProjectId, cause: unknown): SyncError {
  const known = cause instanceof TrackerError ? cause : null
  return deps.feed.commit((tx) => {
    const error: SyncError = {
      reason: known?.code ?? 'internal_error',
      message: known?.message ?? 'Copse itself failed. Its log says more.',
      occurred_at: tx.now(),
    }
    const record = tx.integrations.byProject(project_id)
    if (!record) return error
    const { reason, message } = error
    // The tracker's rate limit is no failure.
    const failures = reason === 'rate_limited' ? record.failures : record.failures + 1
    const not_before = known?.not_before ?? null
    const walk = passing.has(reason) ? record.walk : null
    const goesOn = reason === 'rate_limited' && walk !== null && not_before !== null
    const next_poll_at = goesOn ? new Date(not_before).toISOString() : nextPollAt(deps, record, failures, not_before)
    save(tx, { ...record, last_error: error, failures, walk, not_before: isoOf(not_before), next_poll_at }, false)
    tx.emit('ExternalSyncFailed', { project_id, integration_id: record.id, reason, message })
    return error
  })
}

/** Renames the state in which imported tasks start. */
export function renameImportState(tx: Tx, project_id: ProjectId, names: ReadonlyMap<string, string>): void {
  const record = tx.integrations.byProject(project_id)
  const name = names.get(record?.default_task_state ?? '')
  if (record && name !== undefined) save(tx, { ...record, default_task_state: name }, false)
}

function nextPollAt(
  deps: SyncServices,
  record: IntegrationRecord,
  failures: number,
  not_before: number | null,
): string {
  const interval_ms = record.poll_interval_secs * 1_000
  const next = nextPoll({ now: deps.clock.now(), interval_ms, failures, not_before, chance: deps.chance() })
  return new Date(next).toISOString()
}

const isoOf = (time: number | null) => (time === null ? null : new Date(time).toISOString())

/** Returns the repository's names: a renamed one redirects to issues with the new one. */
function namesOf(record: IntegrationRecord, { redirected, items }: IssuePageResponse): readonly Repository[] {
  const [first] = items ?? []
  if (!redirected || typeof first !== 'object' || first === null || !('html_url' in first)) return record.former_names
  const { html_url } = first
  const parts = typeof html_url === 'string' ? /\/([^/]+)\/([^/]+)\/issues\/\d+$/.exec(html_url) : null
  const [, owner, repo] = parts ?? []
  if (owner === undefined || repo === undefined) return record.former_names
  const name = { owner, repo }
  const isKnown = [record, ...record.former_names].some((one) => isSameRepository(one, name))
  return isKnown ? record.former_names : [...record.former_names, name].slice(-10)
}

function save(tx: Tx, record: IntegrationRecord, syncing: boolean): void {
  tx.integrations.put(record)
  tx.emit('integration.updated', {
    project_id: record.project_id,
    integration_id: record.id,
    integration: toIntegration(record, syncing),
  })
}
