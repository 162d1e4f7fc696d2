import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import fc from 'fast-check'
import { branchPrefixProblem } from '../../../../src-shared/contract/branch-names.ts'

/** Git's own answer about a branch with this name. */
const isBranch = (name: string): boolean =>
  spawnSync('git', ['check-ref-format', '--branch', name], { stdio: 'ignore' }).status === 0

test.each([
  ['', true],
  ['svc/', true],
  ['team/agents-', true],
  ['größe/', true],
  ['-f', false],
  ['/svc/', false],
  ['a//', false],
  ['a b', false],
  ['a..', false],
  ['.a/', false],
  ['a/.', false],
  ['a.lock/', false],
  ['a@{', false],
  ['a~', false],
  ['a\\', false],
  ['a\n', false],
])('accepts the branch prefix %j like git', (prefix, fits) => {
  expect(branchPrefixProblem(prefix) === null).toBe(fits)
  expect(isBranch(`${prefix}x`)).toBe(fits)
})

test('accepts only branch prefixes that git accepts', () => {
  const piece = fc.constantFrom(
    'a',
    'svc',
    '/',
    '-',
    '.',
    '.lock',
    '@{',
    '@',
    '..',
    ' ',
    '~',
    '^',
    ':',
    '?',
    '*',
    '[',
    '\\',
    'é',
  )
  const prefixes = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(prefixes, (prefix) => {
      expect(branchPrefixProblem(prefix) === null).toBe(isBranch(`${prefix}x`))
    }),
    { numRuns: 300 },
  )
})
