import { expect, test } from 'vitest'
import { createAddressLimits } from '../../../src-main/server/address-limits.ts'
import { ApiError } from '../../../src-shared/contract/errors.ts'

function open() {
  const time = { now: 0 }
  const limits = createAddressLimits({ requests: 3, failures: 2 }, () => time.now)
  const ask = (address: string) => {
    try {
      limits.admit(address)
      return 'ok'
    } catch (error) {
      if (error instanceof ApiError) return error.details?.['retry_after']
      throw error
    }
  }
  return { time, limits, ask }
}

test('limits the requests of an address per minute', () => {
  const { time, ask } = open()
  expect(['a', 'a', 'a', 'a', 'b'].map((name) => ask(`10.0.0.${name === 'a' ? 1 : 2}`))).toEqual([
    'ok',
    'ok',
    'ok',
    60,
    'ok',
  ])
  time.now = 59_500
  expect(ask('10.0.0.1')).toBe(1)
  time.now = 60_000
  expect(ask('10.0.0.1')).toBe('ok')
})

test('blocks an address after wrong tokens for the rest of the minute', () => {
  const { limits, ask } = open()
  limits.failed('10.0.0.1')
  expect(ask('10.0.0.1')).toBe('ok')
  limits.failed('10.0.0.1')
  expect(ask('10.0.0.1')).toBe(60)
})

test('never limits this machine', () => {
  const { limits, ask } = open()
  for (let count = 0; count < 10; count++) limits.failed('127.0.0.1')
  expect(Array.from({ length: 10 }, () => ask('::1'))).toEqual(Array(10).fill('ok'))
  expect(ask('127.0.0.1')).toBe('ok')
})
