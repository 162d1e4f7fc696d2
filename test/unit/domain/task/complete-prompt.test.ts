import { expect, test } from 'vitest'
import { completePrompt } from '../../../../src-main/domain/task/prompt.ts'
import type { StepResult } from '../../../../src-shared/contract/reviews.ts'

const step = (command: string, exit_code: number | null): StepResult => ({
  command,
  exit_code,
  duration_ms: 1,
  output_tail: '',
  log_name: 'ci-1-1.log',
})
const review = (patch: string, ci: readonly StepResult[] = []) => ({ patch, ci })
const complete = (prompt: string, patch: string, ci: readonly StepResult[] = []) =>
  completePrompt({ prompt, knowledge: null, review: review(patch, ci) })

test('with nothing to add a prompt stays as it is', () => {
  expect(completePrompt({ prompt: 'Work on {{diff}}', knowledge: null, review: null })).toBe('Work on {{diff}}')
})

test('what is known comes last, for whoever works and whoever judges', () => {
  const knowledge = 'Port 5499.'
  expect(completePrompt({ prompt: 'Work', knowledge, review: null })).toBe(
    'Work\n\n## What is known about this project\n\nPort 5499.',
  )
  expect(completePrompt({ prompt: 'Judge', knowledge, review: review('+a\n') })).toMatch(
    /## The change[^]*## What is known about this project\n\nPort 5499\.$/,
  )
})

test('whoever judges reads the checks, then the change', () => {
  expect(complete('Judge', '+a\n', [step('make', 0), step('make test', 2), step('make lint', null)])).toBe(
    [
      'Judge',
      '## The checks\n\n- `make`: passed\n- `make test`: exit code 2\n- `make lint`: exit code none',
      '## The change\n\n```diff\n+a\n```',
    ].join('\n\n'),
  )
  expect(complete('Judge', '')).toBe(
    'Judge\n\n## The checks\n\nNo checks are configured.\n\n## The change\n\nNothing has changed on this branch.',
  )
})

test('a template gets each part where it names it, as often as it does, and what it leaves out follows', () => {
  expect(complete('{{ci}} | {{ci}}', '+a\n', [step('make', 0)])).toBe(
    '- `make`: passed | - `make`: passed\n\n## The change\n\n```diff\n+a\n```',
  )
  expect(complete('See {{diff}}', '+a\n')).toBe('See ```diff\n+a\n```\n\n## The checks\n\nNo checks are configured.')
})

test('a change is data: it fills no placeholder, and what replacement strings give a meaning to stays', () => {
  const patch = "+{{ci}} $& $` $' $1\n"
  expect(complete('{{diff}}{{ci}}', patch)).toBe("```diff\n+{{ci}} $& $` $' $1\n```No checks are configured.")
})

test('a fence is longer than any in the change', () => {
  expect(complete('{{diff}}{{ci}}', '+```\n+`````ts\n')).toMatch(/^``````diff\n[^]*\n``````No checks/)
})

test('a change beyond the budget is cut after a whole line, and says so; one within it is whole', () => {
  const line = `+${'x'.repeat(98)}\n`
  const whole = complete('', line.repeat(600))
  expect(whole).not.toContain('first part')
  expect(whole.match(/\+x{98}\n/g)).toHaveLength(600)
  const cut = complete('', line.repeat(601))
  expect(cut.match(/\+x{98}\n/g)?.length).toBeLessThanOrEqual(600)
  expect(cut.length).toBeLessThan(60_300)
  expect(cut).toMatch(/\n\+x{98}\n```\n\nThat is the first part of 60100 characters; read the rest with git diff\.$/)
})

test('one line that is longer than the budget is cut within it', () => {
  const cut = complete('', `+${'x'.repeat(200_000)}\n`)
  expect(cut.length).toBeLessThan(60_300)
  expect(cut).toMatch(/\n\+x+\n```\n\nThat is the first part of 200002 characters/)
})
