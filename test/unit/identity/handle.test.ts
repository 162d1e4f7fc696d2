import { expect, test } from 'vitest'
import { chooseHandle } from '../../../src-main/identity/handle.ts'

const free = () => false

test.each([
  ['owner@example.com', 'owner'],
  ['Owner.Lovelace+work@example.com', 'owner-lovelace-work'],
  ["_o'neil_@example.com", 'o-neil'],
  ['+++@example.com', 'user'],
  [`${'a'.repeat(38)}.b@example.com`, 'a'.repeat(38)],
])('turns %s into the handle %s', (email, handle) => {
  expect(chooseHandle(email, free)).toBe(handle)
})

test('numbers a taken handle from 2 on', () => {
  const taken = new Set(['owner', 'owner-2'])
  expect(chooseHandle('owner@example.com', (handle) => taken.has(handle))).toBe('owner-3')
})

test('gives no person a name that the audit uses', () => {
  expect(['local', 'system', 'anonymous'].map((name) => chooseHandle(`${name}@example.com`, free))).toEqual([
    'local-2',
    'system-2',
    'anonymous-2',
  ])
})
