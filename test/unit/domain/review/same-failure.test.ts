import { expect, test } from 'vitest'
import { isSameFailure } from '../../../../src-main/domain/review/same-failure.ts'

const step = (output_tail: string, exit_code: number | null = 1, command = 'npm test') => ({
  command,
  exit_code,
  duration_ms: 1,
  output_tail,
  log_name: 'ci-1-1.log',
})

test('ignores times, counts, addresses and colours', () => {
  const first = step(
    '\u001B[31mFAIL\u001B[39m lease.test.ts (12.5 s)\n  at 0x7ffe12ab, commit 3f2a91c0, 17 of 40 failed',
  )
  const second = step('FAIL lease.test.ts (9.1 s)\n  at 0x7ffe99cd, commit 8b1d77e4, 3 of 41 failed\n')
  expect(isSameFailure(second, first)).toBe(true)
})

test('distinguishes messages, exit codes, commands and success', () => {
  const before = step('lease expired')
  expect(isSameFailure(step('lease renewed'), before)).toBe(false)
  expect(isSameFailure(step('lease expired', 2), before)).toBe(false)
  expect(isSameFailure(step('lease expired', 1, 'npm run lint'), before)).toBe(false)
  expect(isSameFailure(step('all well', 0), step('all well', 0))).toBe(false)
  expect(isSameFailure(step('', null), step('', null))).toBe(false)
})

test('takes no plain word of the letters a to f for an address', () => {
  expect(isSameFailure(step('effaced'), step('defaced'))).toBe(false)
})
