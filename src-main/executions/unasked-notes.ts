import type { ReviewNote } from '../../src-shared/contract/reviews.ts'
import type { UnaskedActions } from '../ports/executors.ts'

/** Returns the notes for a review of what a run did without asking; `redact` removes secrets. */
export function unaskedNotes(unasked: UnaskedActions | undefined, redact: (text: string) => string): ReviewNote[] {
  if (unasked === undefined) return []
  return [{ kind: 'unasked', count: unasked.count, actions: unasked.actions.map(redact) }]
}
