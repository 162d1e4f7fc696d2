import { describe, expect, test } from 'vitest'
import {
  attemptsOf,
  filterRuns,
  firstRun,
  groupRuns,
  heldRun,
  leavesOut,
  mergeRuns,
  skipsOf,
} from '../../../../src-renderer/features/hooks/hook-runs.ts'
import type { HookRun } from '../../../../src-shared/contract/lifecycle-hooks.ts'
import type { ErrorAnnotation } from '../../../../src-shared/contract/tasks.ts'
import { runOf } from './hook-run-fixture.ts'

const none = new Map<string, unknown>()
const failed = { status: 'failed', exit_code: 1 } as const
const names = (runs: readonly HookRun[]) => runs.map((run) => run.log_name)
const held: ErrorAnnotation = {
  type: 'hook_failed',
  message: 'npm ci ended with 1.',
  recovery_actions: ['retry_hook', 'skip_hook_once'],
}

describe('groups', () => {
  test('are in the order of a task’s life, whichever ran last', () => {
    const runs = [
      runOf(9),
      runOf(8, { event: 'on_exit' }),
      runOf(7, { event: 'on_work_stop' }),
      runOf(6),
      runOf(5, { event: 'on_work_start' }),
    ]
    expect(groupRuns(runs).map((group) => [group.event, group.runs.length])).toEqual([
      ['before_work', 2],
      ['on_work_start', 1],
      ['on_work_stop', 1],
      ['on_exit', 1],
    ])
  })
})

describe('the filter', () => {
  const runs = [
    runOf(4, { event: 'on_work_stop', command: 'docker compose down', status: 'timed_out', exit_code: null }),
    runOf(3, { type: 'plugin', plugin: 'knowledge-inject', status: 'skipped' }),
    runOf(2, failed),
    runOf(1),
  ]
  const [stop, plugin, bad, good] = runs
  test('finds text in event, script and plugin, in any case', () => {
    expect(filterRuns(runs, ' WORK_STOP ', 'all')).toEqual([stop])
    expect(filterRuns(runs, 'Compose', 'all')).toEqual([stop])
    expect(filterRuns(runs, 'inject', 'all')).toEqual([plugin])
    expect(filterRuns(runs, '', 'all')).toEqual(runs)
  })
  test('distinguishes results, and combines text and result', () => {
    expect(filterRuns(runs, '', 'failed')).toEqual([bad])
    expect(filterRuns(runs, '', 'timed_out')).toEqual([stop])
    expect(filterRuns(runs, '', 'skipped')).toEqual([plugin])
    expect(filterRuns(runs, 'npm', 'succeeded')).toEqual([good])
    expect(filterRuns(runs, 'docker', 'succeeded')).toEqual([])
  })
})

describe('attempts', () => {
  test('count the tries of a blocking hook until one succeeds', () => {
    const runs = [runOf(4, failed), runOf(3), runOf(2, failed), runOf(1, failed)]
    expect([...attemptsOf(runs, none).values()].map(({ number, of }) => `${number} of ${of}`)).toEqual([
      '1 of 3',
      '2 of 3',
      '3 of 3',
      '1 of 1',
    ])
  })
  test('keep hooks apart, and leave out those that nothing waits for', () => {
    const runs = [
      runOf(3, { ...failed, blocking: false }),
      runOf(2, { ...failed, command: 'npm test' }),
      runOf(1, failed),
    ]
    expect(attemptsOf(runs, none)).toEqual(
      new Map([
        ['hook-before_work-0-1.jsonl', { number: 1, of: 1 }],
        ['hook-before_work-0-2.jsonl', { number: 1, of: 1 }],
      ]),
    )
  })
  test('start again after a skipped hook', () => {
    const runs = [runOf(3, failed), runOf(2, failed), runOf(1, failed)]
    const attempts = attemptsOf(runs, new Map([['hook-before_work-0-2.jsonl', 'skipped']]))
    expect(attempts.get('hook-before_work-0-2.jsonl')).toEqual({ number: 2, of: 2 })
    expect(attempts.get('hook-before_work-0-3.jsonl')).toEqual({ number: 1, of: 1 })
  })
  test('count retries of a state script that blocks the task', () => {
    const script = { event: 'before_exit', blocking: false } as const
    const runs = [runOf(2, script), runOf(1, { ...script, ...failed })]
    expect(attemptsOf(runs, none).get('hook-before_exit-0-2.jsonl')).toEqual({ number: 2, of: 2 })
  })
})

describe('the run that blocks the task', () => {
  const runs = [
    runOf(4, { ...failed, event: 'on_work_stop', blocking: false }),
    runOf(3, { status: 'timed_out' }),
    runOf(2, failed),
    runOf(1),
  ]
  test('is the newest failed one that can block', () => {
    expect(heldRun(runs, held)).toBe(runs[1])
    expect(firstRun(runs, held)).toBe(runs[1])
  })
  test('is only the one whose log the annotation names, if it names one', () => {
    expect(heldRun(runs, { ...held, log_name: 'hook-before_work-0-2.jsonl' })).toBe(runs[2])
    expect(heldRun(runs, { ...held, log_name: 'not-read-yet.jsonl' })).toBeNull()
  })
  test('is none if nothing can be recovered', () => {
    expect(heldRun(runs, null)).toBeNull()
    expect(heldRun(runs, { ...held, recovery_actions: [] })).toBeNull()
    expect(heldRun(runs, { ...held, type: 'execution_failed' })).toBeNull()
    expect(heldRun([runOf(1)], held)).toBeNull()
  })
  test('shows first what runs, else what came last', () => {
    const running = runOf(5, { status: 'running', duration_ms: null, exit_code: null })
    expect(firstRun([runOf(6), running], null)).toBe(running)
    expect(firstRun(runs, null)).toBe(runs[0])
    expect(firstRun([], null)).toBeNull()
  })
})

test('marks failed runs that were skipped', () => {
  const outcome = { phase: 'before_work', action: 'script', duration_ms: 0, log_name: 'a.jsonl' } as const
  const reason = 'skipped once by user:mara at 2026-11-21T08:05:00.000Z: stale lock'
  const hooks = [
    { ...outcome, outcome: 'blocked', reason: 'exit code 1' } as const,
    { ...outcome, outcome: 'skipped', reason } as const,
    { ...outcome, outcome: 'skipped', reason: 'no_workspace', log_name: 'b.jsonl' } as const,
  ]
  expect(skipsOf([{ hooks }])).toEqual(
    new Map([['a.jsonl', { by: 'user:mara', at: '2026-11-21T08:05:00.000Z', why: 'stale lock' }]]),
  )
})

describe('a fresh read', () => {
  const running = runOf(2, { status: 'running', duration_ms: null, exit_code: null, stdout: 'one' })
  test('replaces the known run and puts it first', () => {
    const more = { ...running, stdout: 'one two' }
    expect(mergeRuns([running, runOf(1)], [runOf(3), more])).toEqual([runOf(3), more, runOf(1)])
  })
  test('is not enough if nothing was known, or a running one is older', () => {
    const known = [running, runOf(1)]
    expect(leavesOut(known, [runOf(4), runOf(3)], 2)).toBe(true)
    expect(leavesOut(known, [runOf(3), runOf(1)], 2)).toBe(true)
    expect(leavesOut(known, [runOf(3), running], 2)).toBe(false)
    expect(leavesOut(known, [runOf(4), runOf(3)], 10)).toBe(false)
  })
  test('keeps the order of runs that began at the same time', () => {
    const [first, second] = [runOf(1, { index: 0 }), runOf(1, { index: 1 })]
    expect(names(mergeRuns([], [first, second]))).toEqual(names([second, first]))
  })
})
