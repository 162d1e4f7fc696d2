import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Activity } from '../../../src-shared/contract/events.ts'
import type { TranscriptEntry } from '../../../src-shared/contract/executions.ts'
import type { ExecutionId, ProjectId, TaskId } from '../../../src-shared/contract/ids.ts'
import { createActivityReporter } from '../../../src-main/executions/activity-reporter.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const at = '2026-11-21T09:30:00.000Z'
const record = { id: 'e' as ExecutionId, task_id: 't' as TaskId, project_id: 'p' as ProjectId }

function teller() {
  const told: string[] = []
  const activity = createActivityReporter({ activity: ({ text }: Activity) => void told.push(text) }, record)
  const report = (entry: TranscriptEntry) => activity.report(entry.type, () => entry)
  return { told, activity, report, print: (text: string) => report({ type: 'stdout', at, text }) }
}

test('reports activity at once, but at most ten times a second and then the latest', () => {
  const { told, print } = teller()
  for (let line = 1; line <= 1_000; line++) {
    print(`line ${line}\n`)
    if (line % 20 === 0) vi.advanceTimersByTime(1)
  }
  expect(told).toEqual(['line 1'])
  vi.advanceTimersByTime(1_000)
  expect(told).toEqual(['line 1', 'line 1000'])
  print('later')
  expect(told.at(-1)).toBe('later')
})

test('reports the last line of a message, and skips entries without activity', () => {
  const { told, report, print } = teller()
  print('\n  \n')
  report({ type: 'usage', at, input_tokens: 1, output_tokens: 1, cost_usd: null })
  expect(told).toEqual([])
  report({ type: 'message', at, text: 'First this.\nThen that.\n' })
  expect(told).toEqual(['Then that.'])
})

test('reports nothing after the run', () => {
  const { told, activity, print } = teller()
  print('one')
  print('two')
  activity.end()
  vi.advanceTimersByTime(1_000)
  expect(told).toEqual(['one'])
})
