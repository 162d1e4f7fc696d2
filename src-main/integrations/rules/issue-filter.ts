import type { SyncFilter } from '../../../src-shared/contract/integrations.ts'
import type { ExternalIssue } from './read-issue.ts'

/** Returns whether a filter accepts an issue: one matching label is enough, in any case. */
export function matchesFilter(filter: SyncFilter, issue: Pick<ExternalIssue, 'labels'>): boolean {
  const wanted = filter.labels ?? []
  if (wanted.length === 0) return true
  const has = new Set(issue.labels.map((label) => label.toLowerCase()))
  return wanted.some((label) => has.has(label.toLowerCase()))
}
