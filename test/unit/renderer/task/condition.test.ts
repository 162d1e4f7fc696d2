import { describe, expect, test } from 'vitest'
import type { Review } from '../../../../src-shared/contract/reviews.ts'
import type { ErrorAnnotation } from '../../../../src-shared/contract/tasks.ts'
import { conditionOf, hasEndedEarly } from '../../../../src-renderer/features/task/condition.ts'

const of = (annotation: Partial<ErrorAnnotation> & Pick<ErrorAnnotation, 'type'>, review?: Review) =>
  conditionOf({ annotation: { message: '', recovery_actions: [], ...annotation }, agent: 'Writer', review })
const rejected = {
  status: 'failed',
  ci_steps: ['npm run lint', 'npm test'],
  step_results: [{ exit_code: 0 }, { exit_code: 1 }],
} as unknown as Review

describe('the note above the tabs', () => {
  test('shows a stop once, as a stop', () => {
    const message = 'It was stopped. Resume it, or run it again.'
    expect(of({ type: 'execution_paused', message })).toEqual({
      tone: 'neutral',
      title: 'Stopped. Your agent’s work is kept.',
      text: null,
      place: null,
    })
  })

  test('leads to the pull request that was closed, merged without the newest work, or not fixed', () => {
    const place = { tab: 'pull_request', label: 'Show pull request' }
    const closed = { type: 'pull_request_closed', message: '#431 was closed without merging.' } as const
    expect(of(closed)).toEqual({ tone: 'warn', title: 'Its pull request was closed', text: closed.message, place })
    expect(of({ type: 'pull_request_merged', message: 'It has newer work.' })).toMatchObject({ tone: 'warn', place })
    const stopped = {
      type: 'retry_budget_exhausted',
      message: '#431: e2e failed.',
      recovery_actions: ['fix_again'],
    } as const
    expect(of({ ...stopped, recovery_actions: [...stopped.recovery_actions] })).toEqual({
      tone: 'warn',
      title: 'Copse stopped fixing the pull request',
      text: stopped.message,
      place,
    })
  })

  test('says when a usage limit is tried again because its named reset is doubtful', () => {
    const limit = { type: 'usage_limit', message: 'Used up.', retry_at: '2026-11-24T14:30:00.000Z' } as const
    expect(of(limit)).toMatchObject({
      title: expect.stringMatching(/^Usage limit\. Continues at /) as string,
      text: 'Used up.',
    })
    expect(of({ ...limit, resets_at: '2026-11-25T14:30:00.000Z', doubtful: true })).toMatchObject({
      title: expect.stringMatching(/^Usage limit\. Tried again at .*\d\d:\d\d\.$/) as string,
      text: expect.stringMatching(
        /^Used up\. The named reset \(.*\d\d:\d\d\) is doubtful: it is later than this limit lasts\.$/,
      ) as string,
    })
  })

  test('names the failed agent, its last message, and what failed before', () => {
    const message = 'The agent failed (exit 1). nothing to commit'
    expect(of({ type: 'execution_failed', message }).title).toBe('Writer failed: nothing to commit.')
    expect(of({ type: 'execution_failed', message }, rejected).title).toBe(
      '`npm test` failed, then Writer failed: nothing to commit.',
    )
    const passed = { ...rejected, status: 'passed' } as Review
    expect(of({ type: 'execution_failed', message: 'The agent failed with exit code 3.' }, passed).title).toBe(
      'Writer failed: exit code 3.',
    )
    expect(of({ type: 'execution_failed', message: '529 overloaded' }).title).toBe('Writer failed: 529 overloaded.')
    expect(of({ type: 'execution_failed', message }).place).toEqual({ tab: 'agent', label: 'Show log' })
  })

  test('asks the person for an answer', () => {
    expect(of({ type: 'execution_incomplete', reason: 'question', message: 'Which?' })).toMatchObject({
      tone: 'you',
      title: 'The agent has a question',
      text: 'Which?',
    })
  })

  test('offers to continue only for runs that ended too early', () => {
    expect(hasEndedEarly({ type: 'execution_paused', message: '', recovery_actions: ['resume'] })).toBe(true)
    expect(hasEndedEarly({ type: 'merge_conflict', message: '', recovery_actions: ['retry_merge'] })).toBe(false)
    expect(hasEndedEarly(null)).toBe(false)
  })
})
