import type { Review } from '../../../src-shared/contract/reviews.ts'
import { isPerson } from '../transition/audience.ts'

/** Returns whether only a person may move on a passed review, because an agent has changed nothing. */
export function waitsForPerson(
  { context_holder: holder }: { readonly context_holder: string | null },
  { empty, verdicts }: Pick<Review, 'empty' | 'verdicts'>,
): boolean {
  const isDecided = verdicts.some(({ by, verdict }) => verdict === 'pass' && isPerson(by))
  return empty && holder?.startsWith('agent:') === true && !isDecided
}
