import type { Review, StepResult } from '../../../src-shared/contract/reviews.ts'
import type { TransitionEntry } from '../../../src-shared/contract/tasks.ts'
import type { ActivityItem } from './activity-item.ts'

/** Returns the step that CI stopped at. */
export function failedStep(review: Review): StepResult | null {
  return review.step_results.find(({ exit_code }) => exit_code !== null && exit_code !== 0) ?? null
}

/** Returns the attempt that a rejection ended; null for any other transition. */
export function judgedBy(entry: TransitionEntry, reviews: readonly Review[]): Review | null {
  if (!entry.rejection) return null
  const before = reviews.filter(({ created_at }) => created_at <= entry.created_at)
  const last = before.reduce<Review | null>((a, b) => (a && a.attempt_number > b.attempt_number ? a : b), null)
  return last?.status === 'failed' ? last : null
}

/** Returns the entries of CI and reviewers, except entries that a rejection covers. */
export function reviewItems(reviews: readonly Review[], transitions: readonly TransitionEntry[]): ActivityItem[] {
  const rejected = new Set(transitions.flatMap((entry) => judgedBy(entry, reviews) ?? []))
  return reviews.flatMap((review): ActivityItem[] => {
    const isRejected = rejected.has(review)
    const verdicts = review.verdicts
      .filter(({ verdict }) => verdict === 'pass' || !isRejected)
      .map((verdict, n): ActivityItem => {
        return { kind: 'verdict', key: `${review.id}-${n}`, at: verdict.created_at, review, verdict }
      })
    const hasEntry = review.step_results.length > 0 && !(isRejected && failedStep(review))
    return hasEntry ? [{ kind: 'ci', key: `${review.id}-ci`, at: ciTime(review), review }, ...verdicts] : verdicts
  })
}

/** Returns the time at which the steps ended, or started if they still run. Steps run without pause. */
function ciTime({ created_at, step_results, ci_steps }: Review): string {
  if (step_results.length < ci_steps.length || step_results.some(({ exit_code }) => exit_code === null))
    return created_at
  const took = step_results.reduce((sum, { duration_ms }) => sum + (duration_ms ?? 0), 0)
  return new Date(Date.parse(created_at) + took).toISOString()
}
