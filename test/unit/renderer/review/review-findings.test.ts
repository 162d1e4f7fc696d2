import { expect, test } from 'vitest'
import { describeConfigChanges, namePaths } from '../../../../src-renderer/features/review/review-findings.ts'
import type { ReviewConfigChange } from '../../../../src-shared/contract/reviews.ts'

const change = (ci_steps: readonly string[], review_prompt: string | null = null): ReviewConfigChange => ({
  by: 'user:1',
  at: '2026-01-01T00:00:00.000Z',
  before: { ci_steps: [...ci_steps], review_prompt },
})
const named = (
  changes: readonly ReviewConfigChange[],
  steps: readonly string[],
  asked: ReviewConfigChange['before'] | null,
) =>
  describeConfigChanges({ config_changes: [...changes], ci_steps: [...steps] }, asked, () => 'Ann').map(
    ({ lines }) => lines,
  )

test('shows the difference of each change of configuration, also after the checks', () => {
  const asked = { ci_steps: ['lint'], review_prompt: 'Be strict' }
  expect(named([change(['lint', 'test']), change(['lint'])], ['lint'], asked)).toEqual([
    ['Without test'],
    ['Another review prompt'],
  ])
  // The newest review ran no steps, but the task now asks for one.
  expect(named([change([])], [], { ci_steps: ['lint'], review_prompt: null })).toEqual([['With lint']])
  // An older review says what it ran.
  expect(named([change(['test'])], ['lint'], null)).toEqual([['Without test', 'With lint']])
  expect(named([change(['a', 'b'])], ['b', 'a'], null)).toEqual([
    ['Other words for the reviewer, or another order of steps'],
  ])
})

test('names ten of many paths and escapes hidden characters', () => {
  const paths = Array.from({ length: 12 }, (_, at) => `f${at}`)
  expect(namePaths(paths)).toBe(`${paths.slice(0, 10).join(', ')} and 2 more files`)
  expect(namePaths(['a\u202eb'])).toBe('a<U+202E>b')
})
