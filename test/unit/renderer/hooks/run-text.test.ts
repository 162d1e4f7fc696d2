import { describe, expect, test } from 'vitest'
import { lineCount, runSentence, startedAt, startedShort } from '../../../../src-renderer/features/hooks/run-text.ts'
import { hookName } from '../../../../src-renderer/formatters/hook-name.ts'
import { runOf } from './hook-run-fixture.ts'

test('names a hook by the first effective line of its script, or by its plugin', () => {
  expect(hookName({ command: 'npm ci' })).toBe('npm ci')
  expect(hookName({ command: '#!/bin/sh\nset -eu\n# install\n\nnpm ci\nnpm run build\n' })).toBe('npm ci …')
  expect(hookName({ command: '# only a comment' })).toBe('# only a comment')
  expect(hookName({ plugin: 'knowledge-inject' })).toBe('plugin: knowledge-inject')
})

describe('describes a run briefly', () => {
  const sentence = (rest: Parameters<typeof runOf>[1]) => runSentence(runOf(1, rest))
  test.each([
    ['Succeeded, blocking, exit 0', {}],
    ['Succeeded, exit 0', { blocking: false }],
    ['Failed, blocking, exit 1', { status: 'failed', exit_code: 1 }],
    [
      'Failed, The shell could not be started.',
      { status: 'failed', exit_code: null, blocking: false, reason: 'The shell could not be started.' },
    ],
    ['Timed out, blocking, killed after 1 m 00 s', { status: 'timed_out', exit_code: null, timeout_seconds: 60 }],
    ['Skipped, there is no worktree yet', { status: 'skipped', exit_code: null, reason: 'no_workspace' }],
    ['Running, blocking', { status: 'running', exit_code: null, duration_ms: null }],
  ] as const)('%s', (expected, rest) => {
    expect(sentence(rest)).toBe(expected)
  })
})

test('counts the lines of an output without the last line end', () => {
  expect([lineCount(''), lineCount('\n'), lineCount('one\n'), lineCount('one\n\nthree')]).toEqual([
    null,
    null,
    '1 line',
    '3 lines',
  ])
})

test('shows the day of an earlier start', () => {
  const at = new Date(2026, 10, 21, 8, 1, 12)
  const iso = at.toISOString()
  expect(startedAt(iso, at)).toBe('08:01:12')
  expect(startedShort(iso, at)).toBe('08:01')
  expect(startedAt(iso, new Date(2026, 10, 22))).toBe('21 Nov 08:01:12')
  expect(startedShort(iso, new Date(2026, 10, 22))).toBe('21 Nov')
})
