import { expect, test } from 'vitest'
import { deriveKey } from '../../../src-main/store/project-keys.ts'

test.each([
  ['Shop', 'SHO'],
  ['copse', 'COP'],
  ['shop-front', 'SF'],
  ['Big Data Tool', 'BDT'],
  ['a name of many many words', 'ANA'],
  ['Überseehandel', 'UBE'],
  ['Go', 'GO'],
  ['X', 'PRJ'],
  ['42', 'PRJ'],
  ['漢字', 'PRJ'],
])('derives from %s the key %s', (name, key) => {
  expect(deriveKey(name, () => false)).toBe(key)
})

test('takes the next best key if one is taken, and always finds one', () => {
  const taken = new Set<string>()
  const give = (name: string) => {
    const key = deriveKey(name, (one) => taken.has(one))
    taken.add(key)
    return key
  }
  expect([give('Shop'), give('Shop'), give('Shop'), give('Shop')]).toEqual(['SHO', 'SHOP', 'SHA', 'SHB'])
  const more = Array.from({ length: 2_000 }, () => give('Shop'))
  expect(new Set(more).size).toBe(2_000)
  for (const key of taken) expect(key).toMatch(/^[A-Z]{2,5}$/)
})
