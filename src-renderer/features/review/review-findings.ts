import type { Review, ReviewConfigChange } from '../../../src-shared/contract/reviews.ts'
import { escapeHidden } from '../../../src-shared/lang/hidden-characters.ts'
import { count } from '../../formatters/format-amounts.ts'

const maxNamed = 10

/** Returns the first paths as text and the number of others. */
export function namePaths(paths: readonly string[]): string {
  const named = paths.slice(0, maxNamed).map(escapeHidden).join(', ')
  const more = paths.length - maxNamed
  return more > 0 ? `${named} and ${count(more, 'more file')}` : named
}

/** A change of the review config, before and after. */
export interface ConfigChangeText {
  readonly by: string
  readonly at: string
  readonly lines: readonly string[]
}

/**
 * Describes each change by its values before and after. The last one changed to `asked`, or without
 * it to the steps of the review.
 */
export function describeConfigChanges(
  { config_changes, ci_steps }: Pick<Review, 'config_changes' | 'ci_steps'>,
  asked: ReviewConfigChange['before'] | null,
  nameOf: (by: string) => string,
): readonly ConfigChangeText[] {
  return config_changes.map(({ by, at, before }, index) => {
    const after = config_changes[index + 1]?.before ?? asked
    return { by: nameOf(by), at, lines: differences(before, after, ci_steps) }
  })
}

function differences(
  before: ReviewConfigChange['before'],
  after: ReviewConfigChange['before'] | null,
  steps: readonly string[],
): readonly string[] {
  const now = after?.ci_steps ?? steps
  const removed = before.ci_steps.filter((step) => !now.includes(step))
  const added = now.filter((step) => !before.ci_steps.includes(step))
  const lines = [...removed.map((step) => `Without ${step}`), ...added.map((step) => `With ${step}`)]
  if (after !== null && after.review_prompt !== before.review_prompt) lines.push('Another review prompt')
  return lines.length > 0 ? lines : ['Other words for the reviewer, or another order of steps']
}
