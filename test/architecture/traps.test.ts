import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { projectRoot } from '../helpers/project-root.ts'

/** The traps of docs/traps.md, each with the tests that it names. */
const traps = readFileSync(join(projectRoot, 'docs', 'traps.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (?:Trap|-+) /.test(line))
  .map((line) => {
    const [, trap = '', proof = ''] = line.split(/(?<!\\)\|/)
    const tests = [...proof.matchAll(/`([^`]+)` “([^”]+)”/g)].map(([, path = '', name = '']) => ({ path, name }))
    return { trap: trap.trim(), proof: proof.trim(), tests }
  })

test('docs/traps.md names tests for every trap, and nothing beside them', () => {
  expect(traps.length).toBeGreaterThan(10)
  const spelled = traps.map(({ tests }) => tests.map(({ path, name }) => `\`${path}\` “${name}”`).join(' '))
  expect(spelled).toEqual(traps.map(({ proof }) => proof))
})

test.each(traps.flatMap(({ trap, tests }) => tests.map((one) => ({ trap, ...one }))))(
  '$trap: $path “$name” is there and runs',
  ({ path, name }) => {
    const file = join(projectRoot, 'test', path)
    expect(existsSync(file)).toBe(true)
    const text = readFileSync(file, 'utf8')
    const at = ["'", '"', '`'].map((quote) => text.indexOf(`${quote}${name}${quote},`)).find((found) => found >= 0)
    expect(at).toBeDefined()
    // What calls it: the last word before, past the options of `test.runIf(…)` or `test.each([…])`.
    const call = text.slice(0, at).match(/\b(?:test|it)\b[^\n]*\(\s*$|\]\)\(\s*$/)?.[0]
    expect(call).toBeDefined()
    expect(call).not.toMatch(/\.(?:skip|todo|fails)\b/)
  },
)
