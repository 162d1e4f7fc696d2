import { describe, expect, test } from 'vitest'
import {
  endNotice,
  inputState,
  outcomeOf,
  workTime,
} from '../../../../src-renderer/features/execution/execution-outcome.ts'
import { panelData } from '../../../helpers/task-panel-data.ts'

const now = Date.parse('2026-11-21T09:30:00.000Z')
const [running, failed] = panelData(now).executions
if (!running || !failed) throw new Error('the data has no executions')

describe('an execution in words', () => {
  test('names the exit code of a failure, if there is one', () => {
    expect(outcomeOf(failed).label).toBe('Failed, exit 1')
    expect(outcomeOf({ ...failed, exit_code: null }).label).toBe('Failed')
  })
  test('counts the time at work during the run and keeps it afterwards', () => {
    expect(workTime(running, now)).toBe(762_000)
    expect(workTime(failed, now)).toBe(960_000)
    expect(workTime({ ...running, started_at: null }, now)).toBeNull()
  })
  test('accepts messages during the run for executors that read them', () => {
    expect(inputState(running)).toEqual({ allowed: true, read: 'Read at its next step' })
    expect(inputState({ ...running, executor: 'gemini' })).toEqual({
      allowed: true,
      read: 'Read at the end of its turn',
    })
    expect(inputState({ ...running, status: 'queued' })).toEqual({
      allowed: false,
      reason: 'You can message it once it starts.',
    })
    expect(inputState({ ...running, executor: 'external' }).allowed).toBe(false)
    expect(inputState({ ...running, executor: 'command' }).allowed).toBe(false)
    expect(inputState({ ...running, executor: 'person' }).allowed).toBe(false)
    expect(inputState(failed).allowed).toBe(false)
    expect(inputState(null).allowed).toBe(false)
  })
})

describe('what stands below a transcript that ended', () => {
  test('distinguishes an agent that never started from one that failed', () => {
    expect(endNotice(failed)?.title).toBe('The agent failed')
    expect(endNotice({ ...failed, started_at: null })?.title).toBe('The agent couldn’t start')
  })
  test('shows nothing after a success', () => {
    expect(endNotice({ ...failed, status: 'succeeded' })).toBeNull()
    expect(endNotice({ ...failed, status: 'stopped', error: null })?.title).toBe('Stopped')
  })
})
