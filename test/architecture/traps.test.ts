import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { problemOf, spell } from '../helpers/named-test.ts'
import { projectRoot } from '../helpers/project-root.ts'

/** The traps of test/traps.md, each with its tests. */
const traps = readFileSync(join(projectRoot, 'test', 'traps.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (?:Trap|-+) /.test(line))
  .map((line) => {
    const [, trap = '', proof = ''] = line.split(/(?<!\\)\|/)
    const tests = [...proof.matchAll(/`([^`]+)` “([^”]+)”/g)].map(([, path = '', name = '']) => ({ path, name }))
    return { trap: trap.trim(), proof: proof.trim(), tests }
  })

test('names in test/traps.md a test for every trap', () => {
  expect(traps.length).toBeGreaterThan(10)
  expect(traps.map(({ tests }) => tests.map(spell).join(' '))).toEqual(traps.map(({ proof }) => proof))
  expect(traps.filter(({ proof }) => proof === '')).toEqual([])
})

test.each(traps.flatMap(({ trap, tests }) => tests.map((one) => ({ trap, ...one }))))(
  '$trap: finds $path “$name” and runs it',
  (one) => {
    expect(problemOf(one)).toBeNull()
  },
)
