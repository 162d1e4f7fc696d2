import type { Review } from '../../../src-shared/contract/reviews.ts'

/** What the changes are compared with. */
export type DiffScope = 'branch' | 'attempt' | 'looked' | 'uncommitted' | 'commit'

/** The attempt since which somebody wants to see what has changed: the one before what is judged, or worked on, now. */
export function attemptBefore(reviews: readonly Review[], isJudged: boolean): number | null {
  const numbers = reviews.map(({ attempt_number }) => attempt_number)
  const now = Math.max(0, ...numbers) + (isJudged ? 0 : 1)
  const earlier = reviews.filter((one) => one.head !== null && one.attempt_number < now)
  return earlier.length === 0 ? null : Math.max(...earlier.map(({ attempt_number }) => attempt_number))
}

/** What can be compared with. */
export function scopesOf(
  attempt: number | null,
  looked: boolean,
): { readonly id: DiffScope; readonly label: string }[] {
  return [
    { id: 'branch', label: 'Whole branch' },
    ...(attempt === null ? [] : [{ id: 'attempt' as const, label: `Since attempt ${attempt}` }]),
    ...(looked ? [{ id: 'looked' as const, label: 'Since I last looked' }] : []),
    { id: 'uncommitted', label: 'Uncommitted' },
  ]
}
