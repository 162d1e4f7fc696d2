import { expect, test } from 'vitest'
import type { RunFailure } from '../../../src-shared/contract/run-failure-sentences.ts'
import { classifyRun, runFailures } from '../../../src-shared/contract/run-failures.ts'

test('has at most twenty classes, each with a sentence and advice', () => {
  const all = Object.values(runFailures)
  expect(all.length).toBeLessThanOrEqual(20)
  for (const { sentence, advice } of all) {
    expect(sentence).toMatch(/^[A-Z].{5,70}\.$/)
    expect(advice).toMatch(/^[A-Z].{5,90}\.$/)
  }
})

test.each<[RunFailure | null, string | null, number | null]>([
  ['not_signed_in', 'Claude Code is no longer signed in (401). Run `claude` once to sign in again.', 1],
  ['not_signed_in', 'Invalid API key · Please run /login', 1],
  ['usage_limit', "You've hit your session limit · resets 3pm", 1],
  ['no_credit', 'Credit balance is too low', 1],
  ['context_full', 'Prompt is too long', 1],
  ['model_rejected', 'The model `gpt-9` does not exist or you do not have access to it.', 1],
  ['provider_down', 'API Error: 529 {"type":"overloaded_error"}', 1],
  ['provider_down', 'connect ECONNREFUSED 127.0.0.1:1', 1],
  ['not_installed', 'The command was not found. Check the agent’s command. sh: 1: nope: not found', 127],
  ['not_installed', 'Codex was not found. Install Codex with `npm install -g @openai/codex`.', null],
  ['not_configured', 'The agent has no command: set one in its configuration.', null],
  ['start_failed', 'Codex could not be started: EACCES', null],
  ['worktree', 'Another run is using this worktree. Wait, or stop it.', null],
  ['disk_full', 'ENOSPC: no space left on device, write', 1],
  ['timed_out', 'Stopped at the time limit of 5 s.', null],
  ['stalled', 'No sign of the agent for 60 s.', 143],
  ['killed', 'The agent was ended by SIGKILL.', 137],
  ['killed', null, 137],
  ['failed', 'The agent failed (exit 2). 3 tests are red.', 2],
])('%s: %s', (failure, error, exit_code) => {
  expect(classifyRun({ status: 'failed', error, exit_code })).toBe(failure)
})

test('finds no failure in a run that a person stopped or that succeeded', () => {
  expect(classifyRun({ status: 'stopped', error: null, exit_code: 143 })).toBeNull()
  expect(classifyRun({ status: 'succeeded', error: null, exit_code: 0 })).toBeNull()
  expect(classifyRun({ status: 'lost', error: 'Copse stopped.', exit_code: null })).toBe('lost')
})
