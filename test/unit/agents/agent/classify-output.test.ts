import { expect, test } from 'vitest'
import { endsWithQuestion, lastParagraph, isLimitError } from '../../../../src-main/agents/agent/classify-output.ts'

test.each([
  'Claude AI usage limit reached|1764000000',
  "You've hit your session limit · resets 3pm",
  "You've hit your usage limit. Upgrade to Pro",
  'exceeded retry limit, last status: 429 Too Many Requests',
  '{"error":{"code":429,"message":"Resource has been exhausted","status":"RESOURCE_EXHAUSTED"}}',
  'You exceeded your current quota, please check your plan and billing details.',
  'Error: 429 rate_limit_exceeded',
  'You have reached your premium request limit',
  'insufficient_quota',
])('recognizes a limit in %j', (text) => {
  expect(isLimitError(text)).toBe(true)
})

test.each([
  'API Error: 500',
  'There are 429 files',
  'The file is too large',
  'context length exceeded',
  'Connection error.',
])('recognizes no limit in %j', (text) => {
  expect(isLimitError(text)).toBe(false)
})

test('takes a question only from the last paragraph', () => {
  expect(endsWithQuestion('Shall I? I do.')).toBe(false)
  expect(endsWithQuestion('Fine. **Shall I?**\n')).toBe(true)
  expect(lastParagraph('I looked.\n\nThere are two.\nWhich one?\n')).toBe('There are two.\nWhich one?')
})
