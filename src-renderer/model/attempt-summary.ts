import { readConflictRequest } from '../../src-shared/contract/conflict-request.ts'
import type { Review, StepResult } from '../../src-shared/contract/reviews.ts'

export type StepState = 'waiting' | 'running' | 'passed' | 'failed' | 'not_run'
export interface AttemptStep {
  readonly command: string
  readonly state: StepState
  readonly result: StepResult | null
}
export interface AttemptSummary {
  readonly label: string
  readonly tone: 'run' | 'ok' | 'fail' | 'you' | 'quiet'
  readonly steps: readonly AttemptStep[]
  readonly verdict: 'waiting' | 'pass' | 'fail'
  readonly ci_ms: number
}

/** Returns the summary of an attempt. `current`: it is the newest and the task is at its gate. */
export function summariseAttempt(review: Review, current: boolean): AttemptSummary {
  const ended = review.status === 'failed' || review.status === 'cancelled' || review.status === 'passed'
  const steps = review.ci_steps.map((command, index): AttemptStep => {
    const result = review.step_results[index] ?? null
    return { command, result, state: stepState(result, ended) }
  })
  const last = review.verdicts[review.verdicts.length - 1]
  return {
    ...headline(review, steps, current),
    steps,
    verdict: last?.verdict ?? 'waiting',
    ci_ms: review.step_results.reduce((sum, step) => sum + (step.duration_ms ?? 0), 0),
  }
}

function stepState(result: StepResult | null, ended: boolean): StepState {
  if (result === null) return ended ? 'not_run' : 'waiting'
  if (result.exit_code === null) return ended ? 'not_run' : 'running'
  return result.exit_code === 0 ? 'passed' : 'failed'
}

function headline(
  review: Review,
  steps: readonly AttemptStep[],
  current: boolean,
): Pick<AttemptSummary, 'label' | 'tone'> {
  if (review.status === 'cancelled') return { label: 'Cancelled', tone: 'quiet' }
  if (review.status === 'failed') {
    if (steps.some((step) => step.state === 'failed')) return { label: 'Checks failed', tone: 'fail' }
    if (readConflictRequest(review.verdicts.at(-1)?.feedback ?? '')) return { label: 'Had a conflict', tone: 'quiet' }
    return { label: 'Changes requested', tone: 'fail' }
  }
  // Passed checks are not an approval, and no checks mean nothing.
  if (review.status === 'passed') {
    if (review.verdicts.some(({ verdict }) => verdict === 'pass')) return { label: 'Approved', tone: 'ok' }
    return steps.length === 0 ? { label: 'Nothing checked', tone: 'quiet' } : { label: 'Checks passed', tone: 'ok' }
  }
  if (steps.some((step) => step.state === 'running' || step.state === 'waiting'))
    return { label: 'Running checks', tone: 'run' }
  return current ? { label: 'Needs your review', tone: 'you' } : { label: 'Not reviewed', tone: 'quiet' }
}

/** Returns the index of the step to expand: the failed one, else the running one; or null. */
export function stepToOpen(steps: readonly AttemptStep[]): number | null {
  const failed = steps.findIndex((step) => step.state === 'failed')
  if (failed >= 0) return failed
  const running = steps.findIndex((step) => step.state === 'running')
  return running >= 0 ? running : null
}
