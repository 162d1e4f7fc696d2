import { expect, test } from 'vitest'
import { readResuming } from '../../../src-main/cli/resume.ts'
import { ConnectionError } from '../../../src-shared/client/http-transport.ts'

const away = () => Promise.reject(new ConnectionError('away'))

test('a service that is not there at all is not waited for', async () => {
  let tries = 0
  await expect(
    readResuming(() => {
      tries++
      return away()
    }),
  ).rejects.toThrow(ConnectionError)
  expect(tries).toBe(1)
})

test('a stream that was there is read on after the connection was lost, until its end', async () => {
  const seen: string[] = []
  await readResuming((heard) => {
    seen.push('opened')
    if (seen.length === 3) return away()
    heard()
    return Promise.resolve(seen.length < 4 ? 'lost' : 'ended')
  })
  expect(seen).toHaveLength(4)
})

test('what the service refuses ends the reading at once', async () => {
  const refused = new Error('refused')
  await expect(readResuming(() => Promise.reject(refused))).rejects.toBe(refused)
})
