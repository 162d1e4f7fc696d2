import type { Integration } from '../../src-shared/contract/integrations.ts'
import type { IntegrationRecord } from '../ports/issue-trackers.ts'

/** Returns an integration as clients see it. */
export function toIntegration(record: IntegrationRecord, syncing: boolean): Integration {
  const {
    walk,
    since: _since,
    etag: _etag,
    not_before: _pause,
    failures: _failures,
    former_names: _names,
    next_poll_at,
    ...shown
  } = record
  return { ...shown, progress: walk && progressOf(walk), syncing, next_poll_at: record.enabled ? next_poll_at : null }
}

function progressOf({
  next_url: _next,
  next_since: _since,
  page_size: _size,
  ...progress
}: NonNullable<IntegrationRecord['walk']>): NonNullable<Integration['progress']> {
  return progress
}
