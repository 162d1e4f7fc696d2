import { describe, expect, test } from 'vitest'
import { stepToOpen, summariseAttempt } from '../../../../src-renderer/model/attempt-summary.ts'
import { budgetAfter, retryBudget } from '../../../../src-renderer/model/retry-budget.ts'
import { panelData, workflow } from '../../../helpers/task-panel-data.ts'

const data = panelData(Date.parse('2026-11-21T09:30:00.000Z'))
const [newest, byCi, byReviewer] = data.reviews
if (!newest || !byCi || !byReviewer) throw new Error('the data has three reviews')
const gate = workflow.states.find((state) => state.name === 'review')

describe('an attempt at the review', () => {
  test('says who rejected it, or that it waits', () => {
    expect(summariseAttempt(newest, true).label).toBe('Needs your review')
    expect(summariseAttempt(byCi, false).label).toBe('Checks failed')
    expect(summariseAttempt(byReviewer, false).label).toBe('Changes requested')
  })
  test('opens the failed step, and marks later ones as not run', () => {
    const cut = { ...byCi, ci_steps: [...byCi.ci_steps, 'npm run e2e'] }
    const { steps } = summariseAttempt(cut, false)
    expect(steps.map((step) => step.state)).toEqual(['passed', 'passed', 'failed', 'not_run'])
    expect(stepToOpen(steps)).toBe(2)
  })
  test('opens a running step, and marks later ones as waiting', () => {
    const [first, second] = newest.step_results
    if (!first || !second) throw new Error('no steps')
    const working = {
      ...newest,
      step_results: [first, { ...second, exit_code: null, duration_ms: null }],
      verdicts: [],
    }
    const { steps, label } = summariseAttempt(working, true)
    expect([label, steps.map((step) => step.state), stepToOpen(steps)]).toEqual([
      'Running checks',
      ['passed', 'running', 'waiting'],
      1,
    ])
  })
  test('opens nothing if all steps passed', () => {
    expect(stepToOpen(summariseAttempt(newest, true).steps)).toBeNull()
  })
})

describe('the retry budget', () => {
  test('belongs to the task’s gate, else the one that rejected it, else the first', () => {
    const summary = { attempt_number: 3, status: 'failed', steps: [] } as const
    const at = (status: string, rejections?: Record<string, number>) =>
      retryBudget(
        { ...data.task, status, review_summary: { ...summary, steps: [], ...(rejections && { rejections }) } },
        workflow,
      )
    expect(at('review', { review: 2 })).toEqual({ used: 2, max: 3 })
    expect(at('in_progress', { review: 1 })).toEqual({ used: 1, max: 3 })
    expect(at('in_progress')).toEqual({ used: 0, max: 3 })
    expect(retryBudget({ ...data.task, status: 'in_progress' }, undefined)).toBeNull()
  })
  test('counts the gate’s rejections in the history', () => {
    expect(budgetAfter(data.transitions, gate)).toEqual({ used: 2, max: 3 })
  })
  test('starts again after any action of a person', () => {
    const [first] = data.transitions
    if (!first) throw new Error('no transitions')
    expect(budgetAfter([...data.transitions, { ...first, rejection: true, from_state: 'review' }], gate)?.used).toBe(0)
  })
  test('does not exist for a gate without one', () => {
    expect(
      budgetAfter(data.transitions, gate && { ...gate, gate_config: { requires_human_approval: false } }),
    ).toBeNull()
  })
})
