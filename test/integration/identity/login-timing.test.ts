import { expect, test } from 'vitest'
import { createPasswords } from '../../../src-main/identity/passwords.ts'
import { here, openIdentity, person } from './open-identity.ts'

const rounds = { atLeast: 30, atMost: 150 }
/** Other load only adds time, so the quickest of many shows the work itself. */
const quickest = (values: readonly number[]) => Math.min(...values)

test('takes as long for a missing account as for a wrong password', async () => {
  await using opened = await openIdentity({ bcryptCost: 8 })
  await opened.identity.register(person('owner@example.com'), here)
  const took = { known: [] as number[], unknown: [] as number[] }
  const attempt = async (kind: keyof typeof took, email: string) => {
    const start = performance.now()
    await opened.identity.login({ email, password: 'wrong horse' }, here).catch(() => undefined)
    took[kind].push(performance.now() - start)
    // Past the limit on failures of one account.
    opened.time.now += 3_600_000
  }
  await attempt('known', 'owner@example.com')
  await attempt('unknown', 'nobody@example.com')
  const difference = () => {
    const [known, unknown] = [quickest(took.known), quickest(took.unknown)]
    return Math.abs(known - unknown) / Math.max(known, unknown)
  }
  // Alternates, so that other load affects both alike. A busy machine needs more rounds until one of each was
  // undisturbed; a real difference remains, however many there are.
  for (let round = 0; round < rounds.atLeast || (round < rounds.atMost && difference() >= 0.2); round++) {
    await attempt('known', 'owner@example.com')
    await attempt('unknown', 'nobody@example.com')
  }
  expect(difference()).toBeLessThan(0.2)
})

test('refuses sign-ins beyond 200 that wait', async () => {
  const passwords = createPasswords(4)
  const results = await Promise.allSettled(Array.from({ length: 260 }, () => passwords.verify('x', null)))
  const refused = results.filter((result) => result.status === 'rejected')
  expect(refused.length).toBeGreaterThanOrEqual(50)
  expect(refused[0]).toMatchObject({ reason: { code: 'rate_limited', details: { retry_after: 30 } } })
  expect(await passwords.verify('x', await passwords.hash('x'))).toBe(true)
})
