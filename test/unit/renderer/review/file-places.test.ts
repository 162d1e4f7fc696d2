import { expect, test } from 'vitest'
import { filePlaces } from '../../../../src-renderer/features/review/file-places.ts'

const places = (output: string) => filePlaces(output).map(({ path, line }) => `${path}:${line}`)

test.each([
  ['    at test/worker.race.test.ts:88:31', 'test/worker.race.test.ts:88'],
  ['    at run (./src/a.ts:12:3)', 'src/a.ts:12'],
  ['src/lib.rs:7: error: nothing', 'src/lib.rs:7'],
  ['main.go:3:1: syntax error', 'main.go:3'],
  ['\u001b[31msrc/a b/c.ts:4\u001b[0m', 'b/c.ts:4'],
])('finds a line of a file in %j', (output, place) => {
  expect(places(output)).toEqual([place])
})

test.each([
  ['an address', 'http://localhost:3000 and example.com:443/x https://a.example.org/x.ts:4'],
  ['a time', 'at 12:30:15 and 10.5:3'],
  ['a path from elsewhere', '/usr/lib/node.js:3 ../outside.ts:4 C:\\x.ts:3'],
  ['what others wrote', 'at node_modules/vitest/dist/a.js:3'],
  ['a line that is none', 'a.ts:0'],
])('finds no line of a file in %s', (_, output) => {
  expect(places(output)).toEqual([])
})

test('lists each place once, at most five', () => {
  expect(places('a.ts:1 a.ts:1 a.ts:2')).toEqual(['a.ts:1', 'a.ts:2'])
  expect(places(Array.from({ length: 9 }, (_, n) => `a.ts:${n + 1}`).join('\n'))).toHaveLength(5)
})
