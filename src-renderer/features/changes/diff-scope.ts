import type { Review } from '../../../src-shared/contract/reviews.ts'

/** The base of the comparison. */
export type DiffScope = 'branch' | 'attempt' | 'looked' | 'uncommitted' | 'commit'

/**
 * Returns the number of the attempt to compare with: the one before the attempt that is reviewed or
 * worked on now.
 */
export function attemptBefore(reviews: readonly Review[], isJudged: boolean): number | null {
  const numbers = reviews.map(({ attempt_number }) => attempt_number)
  const now = Math.max(0, ...numbers) + (isJudged ? 0 : 1)
  const earlier = reviews.filter((one) => one.head !== null && one.attempt_number < now)
  return earlier.length === 0 ? null : Math.max(...earlier.map(({ attempt_number }) => attempt_number))
}

/** Returns the available scopes. */
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

/** Returns why a comparison has no files. `works`: whether someone works on the task. */
export function emptyDiffText(scope: DiffScope, works: boolean): string {
  if (scope === 'commit') return 'This commit changes no files.'
  if (scope === 'looked') return 'Nothing has changed since you last looked.'
  if (scope === 'uncommitted') return 'Everything is committed.'
  if (scope === 'attempt') return 'Nothing has changed since that attempt.'
  return `No changes on this branch${works ? ' yet. The agent is running.' : '.'}`
}
