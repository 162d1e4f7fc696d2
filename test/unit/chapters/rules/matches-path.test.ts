import { expect, test } from 'vitest'
import { matchesPath } from '../../../../src-main/chapters/rules/matches-path.ts'

test.each([
  ['src/auth', 'src/auth', true],
  ['src/auth', 'src/auth/a/b.ts', true],
  ['src/auth/', 'src/auth/a.ts', true],
  ['/src/auth', 'src/auth/a.ts', true],
  ['src/auth', 'src/authors.ts', false],
  ['src/auth', 'lib/src/auth/a.ts', false],
  ['src/auth/**', 'src/auth/.hidden/b.ts', true],
  ['src/auth/**', 'src/auth', false],
  ['src/*', 'src/a/b.ts', true],
  ['src/*.ts', 'src/a.ts', true],
  ['src/*.ts', 'src/a/b.ts', false],
  ['**/*.sql', 'a.sql', true],
  ['**/*.sql', 'a/b/c.sql', true],
  ['**/a/**/b', 'x/a/y/a/z/b', true],
  ['**/a/**/b', 'x/a/y', false],
  ['*.pem', 'a/b.pem', true],
  ['/*.pem', 'a/b.pem', false],
  ['/*.pem', 'b.pem', true],
  ['auth', 'a/auth/b.ts', true],
  ['a?c', 'abc', true],
  ['a?c', 'ac', false],
  ['a.c', 'abc', false],
  ['**', 'anything/at/all', true],
  ['ü/*', 'ü/é', true],
])('%s and %s: %s', (pattern, path, expected) => {
  expect(matchesPath(pattern, path)).toBe(expected)
})

test('takes no long time, whatever owners and branches write', () => {
  const start = performance.now()
  expect(matchesPath('**/a/'.repeat(40) + 'b', 'a/'.repeat(2_000) + 'c')).toBe(false)
  expect(matchesPath('*a'.repeat(90) + 'b', 'a'.repeat(4_000))).toBe(false)
  expect(performance.now() - start).toBeLessThan(1_000)
})
