import { expect, test } from 'vitest'
import { hookLine } from '../../../../src-renderer/features/task/hook-line.ts'
import type { HookOutcome } from '../../../../src-shared/contract/tasks.ts'
import { runOf } from '../hooks/hook-run-fixture.ts'

const nameOf = (by: string) => (by === 'user:mara' ? 'Mara' : by)
const blocked: HookOutcome = {
  phase: 'before_work',
  action: 'script',
  outcome: 'blocked',
  reason: 'exit code 1',
  duration_ms: 4_200,
}
const failed = runOf(1, { command: 'scripts/seed-db.sh', status: 'failed', exit_code: 1 })

test('shows for a blocking hook its exit code and last output', () => {
  const run = { ...failed, stdout: 'one\n', stderr: '+ seed\n\u001b[31mdatabase is locked\u001b[0m\n\n+ exit 1\n' }
  expect(hookLine({ hook: blocked, run }, nameOf)).toEqual({
    tone: 'error',
    glyph: 'failed',
    name: 'scripts/seed-db.sh',
    words: 'failed, exit 1, and held the task',
    after: '4.2 s',
    body: 'database is locked',
  })
})

test('shows only the outcome of a hook without a log', () => {
  const hook: HookOutcome = { ...blocked, phase: 'before_exit', action: 'run_ci_steps', reason: 'npm test failed' }
  expect(hookLine({ hook, run: null }, nameOf)).toMatchObject({
    name: 'run_ci_steps',
    words: 'failed and blocked the move',
    body: 'npm test failed',
  })
})

test('shows a timeout by a glyph of its own, without an exit code', () => {
  const run = { ...failed, status: 'timed_out', exit_code: 143 } as const
  const hook: HookOutcome = { ...blocked, phase: 'on_work_stop', outcome: 'failed', reason: 'timed out after 30 s' }
  expect(hookLine({ hook, run }, nameOf)).toMatchObject({
    glyph: 'timed-out',
    words: 'timed out',
    body: 'timed out after 30 s',
  })
})

test('shows who skipped a hook and why, and is quiet if it was not needed', () => {
  const skipped: HookOutcome = { ...blocked, outcome: 'skipped', duration_ms: 0 }
  const once = { ...skipped, reason: 'skipped once by user:mara at 2026-11-21T08:05:00.000Z: stale lock' }
  expect(hookLine({ hook: once, run: failed }, nameOf)).toMatchObject({
    tone: 'warning',
    words: 'was skipped once by Mara',
    after: null,
    body: '“stale lock”',
  })
  const idle = { ...skipped, reason: 'not_needed' }
  expect(hookLine({ hook: idle, run: null }, nameOf)).toMatchObject({ tone: null, body: 'Nothing to do.' })
  const noPlace = { ...skipped, reason: 'no_workspace' }
  expect(hookLine({ hook: noPlace, run: null }, nameOf)).toMatchObject({
    tone: 'warning',
    body: 'There is no worktree yet.',
  })
})

test('shows who updated the branch', () => {
  const reason = 'user:mara: svc/a has all of main now (c0ffee) and is at beef'
  const hook: HookOutcome = { phase: 'after_enter', action: 'update_branch', outcome: 'ok', reason, duration_ms: 0 }
  expect(hookLine({ hook, run: null }, nameOf)).toMatchObject({
    tone: null,
    glyph: 'succeeded',
    words: 'was done',
    body: 'Mara: svc/a has all of main now (c0ffee) and is at beef',
  })
})
