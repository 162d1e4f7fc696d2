import { readConflictRequest } from '../../src-shared/contract/conflict-request.ts'
import { count } from './format-amounts.ts'

/**
 * Returns what a text asks to resolve by which someone let an agent resolve a conflict: `1 conflict with main`. null for
 * a person's own words.
 */
export function askedConflicts(text: string | null): string | null {
  const request = text === null ? null : readConflictRequest(text)
  return request && `${count(request.files, 'conflict')} with ${request.base}`
}
