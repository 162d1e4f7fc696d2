import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  isDoubtful,
  pauseUntil,
  readReset,
  readResetHeaders,
  retryAfterLimit,
} from '../../../../src-main/executions/rules/usage-limit.ts'
import { isLimitError } from '../../../../src-main/agents/agent/classify-output.ts'

const now = Date.parse('2026-03-10T12:00:00.000Z')
const zone = 'Europe/Berlin'
const iso = (at: number | null | undefined) => (at == null ? null : new Date(at).toISOString())
const read = (text: string, at = now, before: number | null = null) => readReset(text, { now: at, zone, before })

/** Real messages of providers' agents, from reports of their users. */
test.each([
  // Claude Code: github.com/anthropics/claude-code/issues/11429, 7157, 15064, 54698, 12789, 2087.
  ['Claude AI usage limit reached|1773162000', '2026-03-10T17:00:00.000Z'],
  ['5-hour limit reached ∙ resets 2am', '2026-03-11T01:01:00.000Z'],
  ['Claude usage limit reached. Your limit will reset at 9am (America/Chicago).', '2026-03-10T14:01:00.000Z'],
  ["You've hit your limit · resets 1:30am (Asia/Dhaka)", '2026-03-10T19:31:00.000Z'],
  [
    'Weekly limit reached · resets 10am (Asia/Seoul) · /upgrade to Max or turn on /extra-usage',
    '2026-03-11T01:01:00.000Z',
  ],
  ['Claude usage limit reached. Your limit will reset at 1pm (Etc/GMT+5).', '2026-03-10T18:01:00.000Z'],
  // Codex: github.com/openai/codex/issues/3899, 3124, 28089; its API's answer:
  // github.com/earendil-works/pi/issues/4172.
  [
    "You've hit your usage limit. Upgrade to Pro (https://openai.com/chatgpt/pricing) or try again in 5 days 22 hours 11 minutes.",
    '2026-03-16T10:12:00.000Z',
  ],
  ["You've hit your usage limit. Upgrade to Pro or try again at 5:00 PM.", '2026-03-10T16:01:00.000Z'],
  [
    'Codex error: {"type":"error","error":{"type":"usage_limit_reached","message":"The usage limit has been reached","plan_type":"plus","resets_at":1773163000,"resets_in_seconds":13872}}',
    '2026-03-10T17:16:40.000Z',
  ],
  // Gemini CLI: github.com/google-gemini/gemini-cli/issues/22643, 22107, 15576.
  ['Usage limit reached for gemini-3-flash-preview. Access resets at 10:57 PM GMT-3.', '2026-03-11T01:58:00.000Z'],
  ['You have exhausted your capacity on this model. Your quota will reset after 10h30m5s.', '2026-03-10T22:30:05.000Z'],
  ['[API Error: You have exhausted your daily quota on this model.]', null],
  // Copilot CLI: github.com/github/copilot-cli/issues/2144, 2754, 3431.
  [
    "Sorry, you've hit a rate limit that restricts the number of Copilot model requests you can make within a specific time period. Please try again in 15 hours 23 minutes. Please review our Terms of Service",
    '2026-03-11T03:24:00.000Z',
  ],
  ['402 {"error":{"message":"You have no quota","code":"quota_exceeded"}}', null],
  // opencode: github.com/anomalyco/opencode/issues/50093, 17614.
  ['Free usage exceeded, subscribe to Go retrying in 6h16m - attempt #1', '2026-03-10T18:17:00.000Z'],
  ['The usage limit has been reached', null],
  // Qwen Code: github.com/QwenLM/qwen-code/issues/1742.
  ['429 Free allocated quota exceeded.', null],
])('recognizes %j as a usage limit, with its reset time', (text, at) => {
  expect(isLimitError(text)).toBe(true)
  expect(iso(read(text)?.at)).toBe(at)
})

test('takes a time of day as the next one, across midnight and daylight saving', () => {
  const before = Date.parse('2026-03-28T22:30:00.000Z')
  expect(iso(read('resets 3:30am', before)?.at)).toBe('2026-03-29T01:31:00.000Z')
  expect(iso(read('resets 11pm', before)?.at)).toBe('2026-03-29T21:01:00.000Z')
  expect(iso(read('try again at Mar 31st, 2026 5:00 PM', before)?.at)).toBe('2026-03-31T15:01:00.000Z')
})

test.each([
  ['resets at 16:30:15', '2026-03-10T15:30:15.000Z'],
  ['resets on Mar 31', '2026-03-31T22:00:00.000Z'],
  ['resets Apr 1, 2026. Upgrade for more.', '2026-04-01T22:00:00.000Z'],
  ['You can try again when the limit resets at 3pm.', '2026-03-10T14:01:00.000Z'],
  ['resets at 2026-03-10T17:00Z', '2026-03-10T17:01:00.000Z'],
  ['resets at 2026-03-10T17:00:00Z', '2026-03-10T17:00:00.000Z'],
  ['Rate limit reached. Please try again in 6.5s.', '2026-03-10T12:00:06.500Z'],
  ['429 {"retry-after": "30"}', '2026-03-10T12:00:30.000Z'],
  ['Try again later.', null],
])('reads %j as the end of what it names', (text, at) => {
  expect(iso(read(text)?.at)).toBe(at)
})

const minute = 60_000
/** A time as Codex words it: to the minute, on the local day. */
const codexWords = (at: number) =>
  `You've hit your usage limit. Try again at ${new Date(at).toLocaleTimeString('en-US', { timeZone: zone, hour: 'numeric', minute: '2-digit' })}.`
const anyTime = fc.integer({ min: Date.parse('2026-01-01'), max: Date.parse('2027-01-01') })

test('never resumes before a reset that is told to the minute, nor more than a minute after it', () => {
  fc.assert(
    fc.property(anyTime, fc.integer({ min: 1, max: 5 * 60 * minute }), (at, wait) => {
      const late = (read(codexWords(at + wait), at)?.at ?? 0) - (at + wait)
      // An hour that daylight saving repeats has two readings.
      return (late > 0 && late <= minute) || Math.abs(late) >= 59 * minute
    }),
  )
})

test('takes the words of a refusal just after the reset as now, never as tomorrow', () => {
  fc.assert(
    fc.property(anyTime, fc.integer({ min: 0, max: 5 * minute }), (reset, since) => {
      const words = codexWords(reset)
      const told = (Math.floor(reset / minute) + 1) * minute
      const found = read(words, told + since)
      expect(found?.at).toBe(told)
      expect(retryAfterLimit({ now: told + since, reset: found, text: words, windows: [], tries: 1 })).toBe(
        told + since + 2 * minute,
      )
    }),
  )
})

test('takes the same words again as the time that they named, for half a day', () => {
  const first = read('try again at 3:45 PM', now)?.at ?? 0
  expect(iso(first)).toBe('2026-03-10T14:46:00.000Z')
  const hoursLater = (hours: number) => first + hours * 60 * minute
  expect(read('try again at 3:45 PM', hoursLater(3), first)?.at).toBe(first)
  // Without them it is a new time, and so it is a day later.
  expect(iso(read('try again at 3:45 PM', hoursLater(3))?.at)).toBe('2026-03-11T14:46:00.000Z')
  expect(iso(read('try again at 3:45 PM', hoursLater(13), first)?.at)).toBe('2026-03-11T14:46:00.000Z')
})

test.each([
  ['try again at 4:45 PM', [], false],
  ['try again at 11:45 AM', [], true],
  ['5-hour limit reached ∙ resets 2am', [], true],
  ['Weekly limit reached ∙ resets 2am', [], false],
  ['daily quota: resets 2am', [], false],
  ['try again in 6 days', [], false],
  ['try again in 8 days', [], true],
  ['try again in 8 days', [{ name: '30 days', used: 1, resets_at: null }], false],
  ['try again in 6 hours', [{ name: '5 hours', used: 1, resets_at: null }], true],
  [
    'try again in 6 hours',
    [
      { name: '5 hours', used: 0.4, resets_at: null },
      { name: '7 days', used: 0.9, resets_at: null },
    ],
    false,
  ],
])('knows whether %j is longer than the account’s window', (text, windows, doubtful) => {
  const reset = read(text)
  expect(reset && isDoubtful({ now, reset, text, windows })).toBe(doubtful)
})

test('tries before a doubtful reset, with growing pauses, and never after it', () => {
  const text = 'try again at 11:45 AM'
  const reset = read(text)
  const minutes = [0, 1, 2, 10].map(
    (tries) => (retryAfterLimit({ now, reset, text, windows: [], tries }) - now) / minute,
  )
  expect(minutes).toEqual([15, 30, 60, 22 * 60 + 46])
})

test('grows the pauses from 15 minutes to four hours without a reset time', () => {
  const minutes = [0, 1, 2, 3, 4, 5, 60].map((tries) => (pauseUntil(now, tries) - now) / 60_000)
  expect(minutes).toEqual([15, 30, 60, 120, 240, 240, 240])
})

test.each<[Record<string, string>, string | null]>([
  [{ 'retry-after': '120' }, '2026-03-10T12:02:00.000Z'],
  [{ 'retry-after': 'Tue, 10 Mar 2026 13:00:00 GMT', 'x-ratelimit-reset-requests': '1s' }, '2026-03-10T13:00:00.000Z'],
  [{ 'retry-after-ms': '1500', 'retry-after': '2' }, '2026-03-10T12:00:01.500Z'],
  [
    { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '6m0s', 'x-ratelimit-reset-tokens': '2h' },
    '2026-03-10T12:06:00.000Z',
  ],
  [{ 'x-ratelimit-reset': '1773162000' }, '2026-03-10T17:00:00.000Z'],
  [{ 'anthropic-ratelimit-requests-reset': '2026-03-10T12:30:00Z' }, '2026-03-10T12:30:00.000Z'],
  [{ 'anthropic-ratelimit-unified-reset': '1773162000' }, '2026-03-10T17:00:00.000Z'],
  [{ 'content-type': 'application/json', 'retry-after': 'soon' }, null],
])('reads the reset that a provider’s headers name: %j', (headers, at) => {
  expect(iso(readResetHeaders(headers, now))).toBe(at)
})
