import { describe, expect, test } from 'vitest'
import type { Review } from '../../../../src-shared/contract/reviews.ts'
import type { TaskMove } from '../../../../src-shared/contract/tasks.ts'
import { decisionState } from '../../../../src-renderer/features/review/decision-state.ts'
import { panelData, workflow } from '../../../helpers/task-panel-data.ts'
import { withTraits } from '../../../helpers/with-traits.ts'

const data = panelData(Date.parse('2026-11-21T09:30:00.000Z'))
const newest = data.reviews[0]
if (!newest) throw new Error('the data has no review')

function decide(review: Partial<Review> | null, more: { feedback?: string; status?: string; moves?: TaskMove[] } = {}) {
  return decisionState({
    task: { ...data.task, status: more.status ?? 'review' },
    workflow,
    reviews: review === null ? [] : [{ ...newest, ...review } as Review],
    moves: more.moves ?? [],
    feedback: more.feedback ?? '',
    target_branch: 'main',
  })
}

describe('what a person can decide', () => {
  test('nothing outside of a gate', () => {
    expect(decide({}, { status: 'in_progress' })).toBeNull()
  })
  test('after CI: approve, approve and merge; changes only with feedback', () => {
    const decision = decide({})
    expect(decision?.advance).toEqual({
      to: 'merging',
      merges: true,
      steps: ['verdict', 'transition'],
      label: 'Approve and merge into main',
      refusal: null,
    })
    expect(decision?.approve?.refusal).toBeNull()
    expect(decision?.reject.refusal).toBe('Request changes needs feedback.')
    expect(decide({}, { feedback: 'please' })?.reject.refusal).toBeNull()
  })
  test('while CI runs it says how far it is', () => {
    const decision = decide({ step_results: newest.step_results.slice(0, 1) })
    expect(decision?.advance.refusal).toBe('CI is at work: 1 of 3 steps passed.')
  })
  test('a failed step is the reason', () => {
    const [first] = newest.step_results
    if (!first) throw new Error('no step')
    const decision = decide({ status: 'failed', step_results: [{ ...first, exit_code: 1 }] })
    expect(decision?.approve?.refusal).toBe('CI failed: npm run lint exited 1.')
  })
  test('what is approved is only merged', () => {
    const decision = decide({ status: 'passed' })
    expect(decision?.advance).toMatchObject({ label: 'Merge into main', steps: ['transition'], refusal: null })
    expect(decision?.approve?.refusal).toBe('It is approved already.')
  })
  test('the service’s own refusal of the merge is shown', () => {
    const moves: TaskMove[] = [
      { to: 'merging', label: 'Merge', allowed: false, via: 'transition', reason: 'The barrier is up' },
    ]
    expect(decide({ status: 'passed' }, { moves })?.advance.refusal).toBe('The barrier is up')
  })
  test('a gate without CI goes on with the verdict alone, whatever reviews are left from before', () => {
    const planning = workflow.states.map((state) => (state.name === 'review' ? { ...state, hooks: {} } : state))
    const decision = decisionState({
      task: { ...data.task, status: 'review' },
      workflow: withTraits({ ...workflow, states: planning }),
      reviews: [newest],
      moves: [],
      feedback: '',
      target_branch: 'main',
    })
    expect(decision?.advance.steps).toEqual(['verdict'])
    expect(decision?.approve).toBeNull()
  })
})
