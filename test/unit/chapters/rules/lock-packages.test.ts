import fc from 'fast-check'
import { expect, test } from 'vitest'
import { changedPackages } from '../../../../src-main/chapters/rules/lock-packages.ts'
import { lockReaders } from '../../../../src-main/chapters/rules/lock-readers.ts'
import { factsOf } from '../../../helpers/change-facts.ts'

const told = (path: string, before: string | null, after: string | null): readonly string[] =>
  changedPackages(factsOf({ [path]: { before, after } }).files).map(
    ({ name, from, to }) => `${name} ${from ?? 'new'} → ${to ?? 'gone'}`,
  )

test.each([
  [
    'yarn.lock',
    '# yarn lockfile v1\n\n"@a/b@^1.0.0", "@a/b@^1.1.0":\n  version "1.1.0"\n  resolved "https://x/b.tgz"\n  dependencies:\n    version "^9.0.0"\n\nleft@^1.0.0:\n  version "1.0.0"\n',
    '# yarn lockfile v1\n\n"@a/b@^1.0.0":\n  version "1.2.0"\n\nright@~2:\n  version "2.0.0"\n',
    ['@a/b 1.1.0 → 1.2.0', 'left 1.0.0 → gone', 'right new → 2.0.0'],
  ],
  [
    'web/yarn.lock',
    '__metadata:\n  version: 8\n\n"left@npm:^1.0.0":\n  version: 1.0.0\n  resolution: "left@npm:1.0.0"\n',
    '__metadata:\n  version: 9\n\n"left@npm:^1.0.0":\n  version: 1.0.1\n\n"left@npm:^2.0.0":\n  version: 2.0.0\n',
    ['left 1.0.0 → 1.0.1, 2.0.0'],
  ],
  [
    'pnpm-lock.yaml',
    "lockfileVersion: '9.0'\n\nimporters:\n  .:\n    x@1.0.0: 1\npackages:\n\n  '@a/b@1.0.0':\n    resolution: {integrity: x}\n\n  left@1.0.0(peer@3.0.0):\n    engines: {node: 20}\n\nsnapshots:\n\n  left@7.0.0: {}\n",
    "packages:\n\n  '@a/b@1.1.0':\n    resolution: {integrity: y}\n\n  left@1.0.0:\n    x: 1\n",
    ['@a/b 1.0.0 → 1.1.0'],
  ],
  [
    'pnpm-lock.yaml',
    'packages:\n\n  /@a/b/1.0.0_react@18.0.0:\n    dev: true\n  /left/1.0.0:\n    dev: true\n',
    'packages:\n\n  /@a/b/1.0.1_react@18.0.0:\n    dev: true\n  /left/1.0.0:\n    dev: true\n',
    ['@a/b 1.0.0 → 1.0.1'],
  ],
  [
    'Cargo.lock',
    'version = 3\n\n[[package]]\nname = "left"\nversion = "1.0.0"\ndependencies = [\n "right 2.0.0",\n]\n',
    'version = 3\n\n[[package]]\nname = "left"\nversion = "1.0.1"\n\n[[package]]\nname = "new"\nversion = "0.1.0"\n',
    ['left 1.0.0 → 1.0.1', 'new new → 0.1.0'],
  ],
  [
    'poetry.lock',
    '[[package]]\nname = "left"\nversion = "1.0"\n\n[package.dependencies]\nversion = "9"\n\n[metadata]\nversion = "2.0"\n',
    '[[package]]\nname = "left"\nversion = "1.1"\n\n[metadata]\nversion = "2.1"\n',
    ['left 1.0 → 1.1'],
  ],
  ['uv.lock', '[[package]]\nname = "a"\nversion = "1"\n', '[[package]]\nname = "a"\nversion = "2"\n', ['a 1 → 2']],
  [
    'go.sum',
    'example.com/a v1.0.0 h1:x=\nexample.com/a v1.0.0/go.mod h1:y=\nexample.com/b v0.1.0/go.mod h1:z=\n',
    'example.com/a v1.1.0 h1:x=\nexample.com/a v1.1.0/go.mod h1:y=\n',
    ['example.com/a v1.0.0 → v1.1.0'],
  ],
  [
    'Gemfile.lock',
    'GEM\n  remote: https://rubygems.org/\n  specs:\n    rails (7.0.0)\n      rake (>= 1.0)\n    rake (13.0.0)\n\nDEPENDENCIES\n  rails (~> 7.0)\n',
    'GEM\n  specs:\n    rails (7.0.1)\n      rake (>= 1.1)\n    rake (13.0.0)\n',
    ['rails 7.0.0 → 7.0.1'],
  ],
  [
    'composer.lock',
    JSON.stringify({ packages: [{ name: 'a/b', version: 'v1.0.0' }], 'packages-dev': [{ name: 'c/d', version: '2' }] }),
    JSON.stringify({ packages: [{ name: 'a/b', version: 'v1.1.0' }], 'packages-dev': [{ name: 7 }, null] }),
    ['a/b v1.0.0 → v1.1.0', 'c/d 2 → gone'],
  ],
])('tells the packages of %s, row %$', (path, before, after, expected) => {
  expect(told(path, before, after)).toEqual(expected)
})

test('tells a new lock file and one that goes away, and nothing of another file', () => {
  const lock = '[[package]]\nname = "a"\nversion = "1"\n'
  expect(told('Cargo.lock', null, lock)).toEqual(['a new → 1'])
  expect(told('Cargo.lock', lock, null)).toEqual(['a 1 → gone'])
  expect(told('Cargo.toml', null, lock)).toEqual([])
})

test('reads any text as a lock file, quickly', () => {
  const line = fc.oneof(
    fc.constantFrom(
      'packages:',
      '[[package]]',
      'name = "a"',
      'version = "1"',
      '    a (1)',
      '  a@1:',
      '"a@1":',
      '  version "1"',
    ),
    fc.string(),
  )
  fc.assert(
    fc.property(
      fc.array(line).map((lines) => lines.join('\n')),
      (text) => {
        for (const read of Object.values(lockReaders))
          for (const [name, version] of read(text)) expect(name !== '' && version !== '').toBe(true)
      },
    ),
  )
  const start = performance.now()
  for (const read of Object.values(lockReaders)) {
    read(`${'a'.repeat(900)}@`.repeat(1_000))
    read(`  ${'@a/'.repeat(300)}:\n`.repeat(1_000))
    read('    a (('.repeat(100_000))
  }
  expect(performance.now() - start).toBeLessThan(2_000)
})
