import { performance } from 'node:perf_hooks'
import { expect, test } from 'vitest'
import { createPasswords } from '../../../src-main/identity/passwords.ts'

test('verifies a password only against its own hash', async () => {
  const passwords = createPasswords(4)
  const hash = await passwords.hash('correct horse')
  expect(hash).toMatch(/^\$2b\$04\$/)
  expect([await passwords.verify('correct horse', hash), await passwords.verify('Correct horse', hash)]).toEqual([
    true,
    false,
  ])
})

test('refuses what differs after the 72 bytes of bcrypt', async () => {
  const passwords = createPasswords(4)
  const hash = await passwords.hash('x'.repeat(72))
  expect(await passwords.verify(`${'x'.repeat(72)}y`, hash)).toBe(false)
})

test('takes as long for a missing account as for an existing one', async () => {
  const passwords = createPasswords(8)
  const hash = await passwords.hash('correct horse')
  const timed = async (target: string | null) => {
    const start = performance.now()
    expect(await passwords.verify('wrong horse', target)).toBe(false)
    return performance.now() - start
  }
  const took: { known: number; unknown: number }[] = []
  // Alternates, so that other load of the machine affects both alike.
  for (let round = 0; round < 8; round++) took.push({ known: await timed(hash), unknown: await timed(null) })
  const quickest = (kind: 'known' | 'unknown') => Math.min(...took.map((one) => one[kind]))
  expect(quickest('unknown')).toBeGreaterThan(quickest('known') / 2)
})
