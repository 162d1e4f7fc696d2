import { expect, test } from 'vitest'
import { readResuming } from '../../../src-main/cli/resume.ts'
import { ConnectionError } from '../../../src-shared/client/http-transport.ts'

const away = () => Promise.reject(new ConnectionError('away'))

test('does not wait for a service that was never there', async () => {
  let tries = 0
  await expect(
    readResuming(() => {
      tries++
      return away()
    }),
  ).rejects.toThrow(ConnectionError)
  expect(tries).toBe(1)
})

test('reconnects after a lost connection until the stream ends', async () => {
  const seen: string[] = []
  await readResuming((heard) => {
    seen.push('opened')
    if (seen.length === 3) return away()
    heard()
    return Promise.resolve(seen.length < 4 ? 'lost' : 'ended')
  })
  expect(seen).toHaveLength(4)
})

test('stops at once at a refusal', async () => {
  const refused = new Error('refused')
  await expect(readResuming(() => Promise.reject(refused))).rejects.toBe(refused)
})
