import { expect, test } from 'vitest'
import { claudeRunResult } from '../../../../src-main/agents/claude-code/conclude.ts'
import { initialRunState } from '../../../../src-main/agents/claude-code/reduce-run-state.ts'
import type { RunState, RunResult } from '../../../../src-main/agents/claude-code/reduce-run-state.ts'

const result: RunResult = { failed: false, subtype: 'success', text: null, api_error_status: null }
const failed: RunResult = { ...result, failed: true }
const said = (words: string, more: Partial<RunState> = {}): RunState => ({
  ...initialRunState,
  lastMessage: words,
  finalMessage: words,
  result,
  ...more,
})
const failure = (more: Partial<RunResult>): RunState => ({ ...initialRunState, result: { ...failed, ...more } })
const apiError = (kind: string, text: string): RunState => ({
  ...initialRunState,
  api_error: { kind, text },
  result: failed,
})

test.each<[string, RunState, string]>([
  ['nothing', initialRunState, 'silent'],
  ['an empty result', { ...initialRunState, result }, 'silent'],
  ['a failure alone', failure({ text: 'API Error: 500' }), 'silent'],
  ['words', said('All done.'), 'talked'],
  ['deeds alone', { ...initialRunState, acted: true, result }, 'done'],
  ['a question', said('I see two ways.\n\nWhich one shall I take?'), 'question'],
  ['a question in bold', said('**Shall I go on?**'), 'question'],
  ['a question in quotes and space', said('"Shall I go on?" \n'), 'question'],
  ['a full-width question mark', said('続けますか？'), 'question'],
  ['a question further up', said('Why did it fail? The path was wrong.\n\nIt works now.'), 'talked'],
  ['a question before deeds', said('Shall I?', { finalMessage: null, acted: true }), 'done'],
  ['a question in a failed run', said('Shall I?', { result: failed }), 'talked'],
  ['too many turns', failure({ subtype: 'error_max_turns' }), 'limit'],
  ['too much money', failure({ subtype: 'error_max_budget_usd' }), 'limit'],
  ['too many requests', failure({ api_error_status: 429 }), 'limit'],
  ['a rejected rate', { ...initialRunState, rate_limit_rejected: true, result: failed }, 'limit'],
  ['a rejected rate that was waited for', said('Done.', { rate_limit_rejected: true }), 'talked'],
  ['a rate limit error', apiError('rate_limit', 'API Error: 429'), 'limit'],
  ['an empty purse', apiError('billing_error', 'Credit balance is too low'), 'limit'],
  ['a used-up subscription, in words', failure({ text: 'Claude AI usage limit reached|1764000000' }), 'limit'],
  ['a used-up session, in words', apiError('unknown', "You've hit your session limit · resets 3pm"), 'limit'],
  ['another error', apiError('server_error', 'API Error: 500 Internal server error'), 'silent'],
  ["the model's own words about limits", said('The rate limit reached its maximum, so I raised it.'), 'talked'],
])('reports %s', (_name, facts, conclusion) => {
  expect(claudeRunResult(facts, '').conclusion).toBe(conclusion)
})

test.each<[string, RunState, string, string | null]>([
  ['the last words', said('Done.'), 'noise', 'Done.'],
  ['why it failed, before its words', said('Hm.', { result: { ...failed, text: 'No.' } }), '', 'No.'],
  ['the API error of a run that was cut off', apiError('unknown', 'API Error: 500'), '', 'API Error: 500'],
  ['stderr, when it never came to a result', initialRunState, 'error: unknown option\n', 'error: unknown option'],
  ['nothing', { ...initialRunState, result }, 'noise', null],
])('uses as message %s', (_name, facts, stderr, message) => {
  expect(claudeRunResult(facts, stderr).message).toBe(message)
})

test('cuts a long message', () => {
  expect(claudeRunResult(said('x'.repeat(5_000)), '').message).toHaveLength(2_000)
})
