import { expect, test } from 'vitest'
import { interpretOutcome, type OutcomeFacts } from '../../../../src-main/executions/rules/interpret-outcome.ts'

const done: OutcomeFacts = {
  outcome: { ended: 'exited', exit_code: 0, conclusion: 'done', message: 'Well' },
  stopped: null,
  changed: true,
  has_session: false,
}
const answer = (outcome: Partial<OutcomeFacts['outcome']>, more: Partial<OutcomeFacts> = {}) => {
  const end = interpretOutcome({ ...done, ...more, outcome: { ...done.outcome, ...outcome } })
  return [end.status, end.annotation?.type ?? null, end.annotation?.reason ?? end.annotation?.message ?? null]
}

test.each<[string, Partial<OutcomeFacts['outcome']>, Partial<OutcomeFacts>, (string | null)[]]>([
  ['an agent that is done', {}, {}, ['succeeded', null, null]],
  ['silent, but it changed something', { conclusion: 'silent' }, {}, ['succeeded', null, null]],
  [
    'silent and idle',
    { conclusion: 'silent' },
    { changed: false },
    ['stopped', 'execution_incomplete', 'nothing_done'],
  ],
  ['it said something and changed nothing', {}, { changed: false }, ['succeeded', null, null]],
  [
    'it only talked, and there is no work on its branch',
    { conclusion: 'talked' },
    { changed: false, owes_work: true },
    ['stopped', 'execution_incomplete', 'nothing_done'],
  ],
  ['it only talked, where there is work', { conclusion: 'talked' }, { changed: false }, ['succeeded', null, null]],
  ['stalled', { ended: 'stopped' }, { stalled: 60 }, ['failed', 'execution_failed', 'stalled']],
  ['a question', { conclusion: 'question' }, {}, ['stopped', 'execution_incomplete', 'question']],
  ['a limit', { conclusion: 'limit' }, {}, ['stopped', 'execution_incomplete', 'turn_limit']],
  [
    'a limit that ended it with an exit code',
    { conclusion: 'limit', exit_code: 1 },
    {},
    ['failed', 'execution_failed', 'turn_limit'],
  ],
  [
    'a usage limit of its provider, whatever its exit code',
    { conclusion: 'limit' },
    { usage_limit: { account: 'Claude Code', resets_at: null, retry_at: '2026-11-24T14:30:00.000Z' } },
    ['failed', 'usage_limit', 'Well'],
  ],
  [
    'an exit code',
    { exit_code: 2, message: null },
    {},
    ['failed', 'execution_failed', 'The agent failed with exit code 2.'],
  ],
  ['a signal, with its own words', { exit_code: null, message: 'Oh' }, {}, ['failed', 'execution_failed', 'Oh']],
  [
    'a signal as a shell tells it, whatever was printed',
    { exit_code: 137, message: 'noise' },
    {},
    ['failed', 'execution_failed', 'The agent was killed from outside Copse (exit 137).'],
  ],
  ['out of time', { ended: 'timed_out', message: 'Late' }, {}, ['failed', 'execution_failed', 'Late']],
  ['not started', { ended: 'failed_to_start', message: 'Not there' }, {}, ['failed', 'execution_failed', 'Not there']],
  [
    'ended from outside',
    { ended: 'stopped' },
    {},
    ['failed', 'execution_failed', 'The agent was killed from outside Copse.'],
  ],
  [
    'stopped by somebody, though it exited well',
    {},
    { stopped: 'stopped' },
    ['stopped', 'execution_paused', "Stopped. The agent's work is kept."],
  ],
  ['cancelled with its task', { exit_code: 1 }, { stopped: 'cancelled' }, ['cancelled', null, null]],
])('%s', (_what, outcome, more, expected) => {
  expect(answer(outcome, more)).toEqual(expected)
})

test('offers to resume a failure with a session, and another run without one', () => {
  const failed = { ...done, outcome: { ...done.outcome, exit_code: 1 } }
  expect(interpretOutcome({ ...failed, has_session: true }).annotation?.recovery_actions).toEqual([
    'resume',
    'retry_execution',
  ])
  expect(interpretOutcome(failed).annotation).toMatchObject({ exit_code: 1, recovery_actions: ['retry_execution'] })
})

test.each(['question', 'limit', 'silent'] as const)('continues or restarts an unfinished run (%s)', (conclusion) => {
  for (const has_session of [true, false]) {
    const end = interpretOutcome({ ...done, changed: false, has_session, outcome: { ...done.outcome, conclusion } })
    expect(end.annotation).toMatchObject({
      type: 'execution_incomplete',
      recovery_actions: ['resume', 'retry_execution'],
    })
  }
})
