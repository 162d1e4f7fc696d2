import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/project.mjs'

const path = join(root, 'test', 'reach', 'map.json')

/**
 * Reads which tests call what: `tests` (paths), `seconds` of each, and `testsOf(file, name)`, the tests that call a
 * function of a file, or any of it without a name; null for a file or function that no test calls.
 */
export function readMap() {
  const { tests, sets, files } = JSON.parse(readFileSync(path, 'utf8'))
  const paths = Object.keys(tests)
  const members = sets.map((set) => {
    const bits = Buffer.from(set, 'base64')
    return paths.filter((_, index) => (bits[index >> 3] ?? 0) & (1 << (index & 7)))
  })
  return {
    tests: paths,
    seconds: tests,
    entries: () =>
      Object.entries(files).flatMap(([file, functions]) =>
        Object.entries(functions).map(([name, set]) => [file, name, members[set]]),
      ),
    testsOf: (file, name) => {
      const functions = files[file]
      if (functions === undefined) return null
      if (name === undefined) return [...new Set(Object.values(functions).flatMap((set) => members[set]))]
      return functions[name] === undefined ? null : members[functions[name]]
    },
  }
}

/**
 * Brings the map up to date with what the tests of a run recorded in `folder`; `seconds` by test file. Tests that did
 * not run keep what they had, unless they are gone.
 */
export function writeMap(folder, seconds) {
  const kept = existsSync(path) ? readMap() : { tests: [], seconds: {}, entries: () => [] }
  const stay = kept.tests.filter((test) => !(test in seconds) && existsSync(join(root, test)))
  const tests = [...stay, ...Object.keys(seconds)].sort()
  const numbers = new Map(tests.map((test, index) => [test, index]))
  const files = new Map()
  const note = (file, name, test) => {
    const number = numbers.get(test)
    if (number === undefined || !existsSync(join(root, file))) return
    const functions = files.get(file) ?? new Map()
    files.set(file, functions)
    const bits = functions.get(name) ?? new Uint8Array(Math.ceil(tests.length / 8))
    functions.set(name, bits)
    bits[number >> 3] |= 1 << (number & 7)
  }
  for (const [file, name, callers] of kept.entries()) {
    for (const test of callers) if (!(test in seconds)) note(file, name, test)
  }
  for (const { test, files: called } of recordsIn(folder)) {
    for (const [file, names] of Object.entries(called)) for (const name of names) note(file, name, test)
  }
  writeFileSync(path, textOf(tests, { ...kept.seconds, ...seconds }, files))
}

function recordsIn(folder) {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'))
  return names.map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')))
}

/** A line for each test, set and file, so that a change shows what it changed. Functions of the same tests share a set. */
function textOf(tests, seconds, files) {
  const sets = new Map()
  const setOf = (bits) => {
    const text = Buffer.from(bits).toString('base64')
    if (!sets.has(text)) sets.set(text, sets.size)
    return sets.get(text)
  }
  const line = (key, value) => `${JSON.stringify(key)}:${JSON.stringify(value)}`
  const times = tests.map((test) => line(test, Math.round(seconds[test] * 10) / 10))
  const lines = [...files].sort(byName).map(([file, functions]) => {
    return line(file, Object.fromEntries([...functions].sort(byName).map(([name, bits]) => [name, setOf(bits)])))
  })
  const parts = [`{${times.join(',\n')}}`, `[${[...sets.keys()].map((set) => JSON.stringify(set)).join(',\n')}]`]
  return `{"tests":${parts[0]},\n"sets":${parts[1]},\n"files":{${lines.join(',\n')}}}\n`
}

const byName = ([a], [b]) => (a < b ? -1 : 1)
