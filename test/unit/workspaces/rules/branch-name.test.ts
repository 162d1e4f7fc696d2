import fc from 'fast-check'
import { expect, test } from 'vitest'
import { branchName } from '../../../../src-main/workspaces/rules/branch-name.ts'

const id = '019a7c1e-1f2b-7c3d-8e4f-a1b2c3d4e5f6'

test.each([
  ['Add a login page', 'svc/add-a-login-page-c3d4e5f6'],
  ['Übergröße & Café: 50 %!', 'svc/ubergro-e-cafe-50-c3d4e5f6'],
  ['…', 'svc/task-c3d4e5f6'],
  ['日本語', 'svc/task-c3d4e5f6'],
  ['../../etc/passwd', 'svc/etc-passwd-c3d4e5f6'],
  [`${'a'.repeat(39)} bcd`, `svc/${'a'.repeat(39)}-c3d4e5f6`],
])('turns %s into %s', (title, expected) => {
  expect(branchName('svc/', title, id)).toBe(expected)
})

test('makes a valid branch name of every title', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string()), (title) => {
      expect(branchName('svc/', title, id)).toMatch(/^svc\/[a-z0-9]+(-[a-z0-9]+)*-c3d4e5f6$/)
    }),
  )
})
