import { expect, test } from 'vitest'
import { quietFor } from '../../../../src-renderer/formatters/relative-time.ts'
import { waitReasonText } from '../../../../src-renderer/formatters/wait-reason-text.ts'

const inLine = (position: number) => waitReasonText({ reason: 'slots_full', position }, false)

test('shows the position of a run that waits for a slot', () => {
  expect([1, 2, 3, 4, 11, 12, 21, 22].map(inLine)).toEqual([
    'Starts next',
    '2nd in queue',
    '3rd in queue',
    '4th in queue',
    '11th in queue',
    '12th in queue',
    '21st in queue',
    '22nd in queue',
  ])
})

test('says what a run waits for', () => {
  const words = (reason: Parameters<typeof waitReasonText>[0]['reason'], held = false) =>
    waitReasonText({ reason, position: null }, held)
  expect(words('entering')).toBe('Running hooks')
  expect(words('entering', true)).toBe('Hook failed')
  expect(words('project_paused')).toBe('Project paused')
  expect(words('agent_paused')).toBe('Agent paused')
  expect(words('worktree_busy')).toBe('Worktree in use')
  expect(words('task_busy')).toBe('After the current run')
  expect(words('task_paused')).toBe('Sent when you resume')
  expect(words('starting')).toBe('Starting')
})

test('says for which runners a run waits, also without their names', () => {
  const words = (reason: 'runner_full' | 'runner_unreachable', ...names: string[]) =>
    waitReasonText({ reason, position: null }, false, names)
  expect(words('runner_full', 'Box')).toBe('Box is full')
  expect(words('runner_full', 'Box', 'Shed')).toBe('Box and Shed are full')
  expect(words('runner_full', 'Box', 'Shed', 'Den')).toBe('All 3 runners are full')
  expect(words('runner_unreachable', 'Box')).toBe('Box isn’t ready')
  expect(words('runner_unreachable', 'Box', 'Shed')).toBe('Box and Shed aren’t ready')
  expect(words('runner_unreachable', 'Box', 'Shed', 'Den')).toBe('None of 3 runners is ready')
  expect([words('runner_full'), words('runner_unreachable')]).toEqual(['Runner full', 'Runner not ready'])
})

test('shows silence in seconds, minutes, then hours', () => {
  const since = '2026-11-21T12:00:00.000Z'
  const after = (seconds: number) => quietFor(since, Date.parse(since) + seconds * 1_000)
  expect([-1, 40, 60, 12 * 60 + 59, 3_600 + 4 * 60].map(after)).toEqual([
    'Quiet for 0 s',
    'Quiet for 40 s',
    'Quiet for 1 min',
    'Quiet for 12 min',
    'Quiet for 1 h 4 min',
  ])
})
