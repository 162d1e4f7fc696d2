import { expect, test } from 'vitest'
import { pauseUntil, readReset } from '../../../../src-main/domain/task/usage-limit.ts'
import { isLimitError } from '../../../../src-main/agents/agent/classify-output.ts'

const now = Date.parse('2026-03-10T12:00:00.000Z')
const zone = 'Europe/Berlin'

/** Real messages of providers' agents, from reports of their users. */
test.each([
  // Claude Code: github.com/anthropics/claude-code/issues/11429, 7157, 15064, 54698, 12789, 2087.
  ['Claude AI usage limit reached|1773162000', '2026-03-10T17:00:00.000Z'],
  ['5-hour limit reached ∙ resets 2am', '2026-03-11T01:00:00.000Z'],
  ['Claude usage limit reached. Your limit will reset at 9am (America/Chicago).', '2026-03-10T14:00:00.000Z'],
  ["You've hit your limit · resets 1:30am (Asia/Dhaka)", '2026-03-10T19:30:00.000Z'],
  [
    'Weekly limit reached · resets 10am (Asia/Seoul) · /upgrade to Max or turn on /extra-usage',
    '2026-03-11T01:00:00.000Z',
  ],
  ['Claude usage limit reached. Your limit will reset at 1pm (Etc/GMT+5).', '2026-03-10T18:00:00.000Z'],
  // Codex: github.com/openai/codex/issues/3899, 3124, 28089; its API's answer:
  // github.com/earendil-works/pi/issues/4172.
  [
    "You've hit your usage limit. Upgrade to Pro (https://openai.com/chatgpt/pricing) or try again in 5 days 22 hours 11 minutes.",
    '2026-03-16T10:11:00.000Z',
  ],
  ["You've hit your usage limit. Upgrade to Pro or try again at 5:00 PM.", '2026-03-10T16:00:00.000Z'],
  [
    'Codex error: {"type":"error","error":{"type":"usage_limit_reached","message":"The usage limit has been reached","plan_type":"plus","resets_at":1773163000,"resets_in_seconds":13872}}',
    '2026-03-10T17:16:40.000Z',
  ],
  // Gemini CLI: github.com/google-gemini/gemini-cli/issues/22643, 22107, 15576.
  ['Usage limit reached for gemini-3-flash-preview. Access resets at 10:57 PM GMT-3.', '2026-03-11T01:57:00.000Z'],
  ['You have exhausted your capacity on this model. Your quota will reset after 10h30m5s.', '2026-03-10T22:30:05.000Z'],
  ['[API Error: You have exhausted your daily quota on this model.]', null],
  // Copilot CLI: github.com/github/copilot-cli/issues/2144, 2754, 3431.
  [
    "Sorry, you've hit a rate limit that restricts the number of Copilot model requests you can make within a specific time period. Please try again in 15 hours 23 minutes. Please review our Terms of Service",
    '2026-03-11T03:23:00.000Z',
  ],
  ['402 {"error":{"message":"You have no quota","code":"quota_exceeded"}}', null],
  // opencode: github.com/anomalyco/opencode/issues/50093, 17614.
  ['Free usage exceeded, subscribe to Go retrying in 6h16m - attempt #1', '2026-03-10T18:16:00.000Z'],
  ['The usage limit has been reached', null],
  // Qwen Code: github.com/QwenLM/qwen-code/issues/1742.
  ['429 Free allocated quota exceeded.', null],
])('recognizes %j as a usage limit, with its reset time', (text, at) => {
  expect(isLimitError(text)).toBe(true)
  const found = readReset(text, now, zone)
  expect(found === null ? null : new Date(found).toISOString()).toBe(at)
})

test('takes a time of day as the next one, across midnight and daylight saving', () => {
  const before = Date.parse('2026-03-28T22:30:00.000Z')
  expect(new Date(readReset('resets 3:30am', before, zone) ?? 0).toISOString()).toBe('2026-03-29T01:30:00.000Z')
  expect(new Date(readReset('resets 11pm', before, zone) ?? 0).toISOString()).toBe('2026-03-29T21:00:00.000Z')
  expect(new Date(readReset('try again at Mar 31st, 2026 5:00 PM', before, zone) ?? 0).toISOString()).toBe(
    '2026-03-31T15:00:00.000Z',
  )
})

test('grows the pauses from 15 minutes to four hours without a reset time', () => {
  const minutes = [0, 1, 2, 3, 4, 5, 60].map((tries) => (pauseUntil(now, tries) - now) / 60_000)
  expect(minutes).toEqual([15, 30, 60, 120, 240, 240, 240])
})
