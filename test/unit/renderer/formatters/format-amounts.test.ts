import { expect, test } from 'vitest'
import {
  count,
  formatBytes,
  formatCost,
  formatCount,
  formatExactTokens,
  formatShortSpan,
  formatSpan,
  formatTokenSum,
  formatTokens,
  formatUsedTokens,
} from '../../../../src-renderer/formatters/format-amounts.ts'

test('formats spans of time as people say them', () => {
  expect([400, 9_100, 48_300, 59_960, 97_000, 3_599_600, 44_460_000, 187_200_000].map(formatSpan)).toEqual([
    '0.4 s',
    '9.1 s',
    '48.3 s',
    '1 m 00 s',
    '1 m 37 s',
    '1 h 00 m',
    '12 h 21 m',
    '2 d 4 h',
  ])
})
test('shows very short times in milliseconds', () => {
  expect([0, 40, 4_200, 97_000].map(formatShortSpan)).toEqual(['0 ms', '40 ms', '4.2 s', '1 m 37 s'])
})
test('shortens tokens and money', () => {
  expect([840, 184_400, 999_600, 1_230_000].map(formatTokens)).toEqual(['840', '184k', '1.0M', '1.2M'])
  expect([0, 0.004, 0.84, 12.5, null].map(formatCost)).toEqual(['$0.00', '<$0.01', '$0.84', '$12.50', '—'])
})
test('separates thousands', () => {
  expect([0, 840, 5_000, 123_456, 1_234_567].map(formatCount)).toEqual(['0', '840', '5,000', '123,456', '1,234,567'])
})
test('uses the singular for one', () => {
  expect([count(1, 'file'), count(1_200, 'file')]).toEqual(['1 file', '1,200 files'])
})

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_000, '1 kB'],
  [1_240, '1.2 kB'],
  [99_960, '100 kB'],
  [999_600, '1 MB'],
  [214_000_000, '214 MB'],
  [3_200_000_000_000_000, '3200 TB'],
])('formats %d bytes as %s', (bytes, said) => {
  expect(formatBytes(bytes)).toBe(said)
})

test('says that tokens are unknown, never 0', () => {
  const unknown = { input_tokens: null, output_tokens: null }
  expect([formatTokenSum(unknown), formatUsedTokens(unknown)]).toEqual(['—', 'tokens unknown'])
  expect(formatUsedTokens({ input_tokens: 1_200, output_tokens: null })).toBe('1k tokens')
  expect(formatExactTokens({ input_tokens: 1_200, output_tokens: null })).toBe('1,200 in, unknown out')
})
