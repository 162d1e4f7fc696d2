import type { KnowledgeEntry } from '../../../src-shared/contract/knowledge.ts'
import type { Principal } from './principal.ts'

/** Returns whether a caller may read an entry: what a run proposed is hidden from the runs of other tasks. */
export function canSeeEntry(principal: Principal, entry: Pick<KnowledgeEntry, 'status' | 'source'> | null): boolean {
  if (principal.kind !== 'agent' || entry === null || entry.status === 'accepted') return true
  return entry.source.task_id === principal.task_id
}
