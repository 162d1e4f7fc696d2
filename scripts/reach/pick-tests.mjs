import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join, posix } from 'node:path'
import { root } from '../support/project.mjs'
import { changedLines } from './changed-lines.mjs'
import { readMap } from './map-file.mjs'
import { createOwners } from './owners.mjs'

const source = /^src-(main|shared|renderer)\/.*\.(ts|vue)$/
const test = /^test\/.*\.test\.ts$/
/** Rules that read every file of the project. */
const everywhere = /^test\/architecture\//
/** What no test runs, but some read. */
const text = /\.(md|txt|png|svg|html)$|^(LICENSE|CHANGELOG|assets\/|\.github\/|docs\/|packaging\/)/
/** Styles are seen by the tests that measure pages. */
const style = /\.css$/
const lookedAt = /^test\/e2e\/(accessibility|widths|ten-jobs)\.test\.ts$/

/**
 * Returns the test files that can notice what differs between `base` and this folder: `{ tests, seconds, why }`, `why`
 * naming the file that needs them all, or null. A test can notice a changed function if it called it when the map was
 * made; a changed constant, if it called a function that uses it, over other constants too; and its own code. Tests
 * that the map doesn't know yet are picked always.
 */
export function pickTests(base, changes = changedLines(base)) {
  const map = readMap()
  const known = listTests()
  const project = createProject(changes)
  const picked = new Set()
  let why = null
  const pick = (tests) => {
    for (const one of tests ?? []) if (known.has(one)) picked.add(one)
  }
  for (const [file, { before, after }] of changes) {
    if (source.test(file)) {
      const changed = [before, after].flatMap((side) =>
        side === null ? [] : createOwners(file, side.text).ofLines(side.lines),
      )
      for (const owner of project.reachedFrom(file, changed)) {
        if (test.test(owner.file)) pick([owner.file])
        else pick(map.testsOf(owner.file, owner.name) ?? (owner.name === '' ? map.testsOf(owner.file) : null))
      }
    } else if (test.test(file)) pick([file])
    else if (style.test(file)) pick([...known].filter((one) => lookedAt.test(one)))
    else if (text.test(file)) pick(project.namers(file))
    else if (/^(test|scripts)\//.test(file))
      pick([...(map.testsOf(file) ?? []), ...project.importersOf(file), ...project.namers(file)])
    else why ??= file
  }
  if (changes.size > 0) pick([...known].filter((one) => everywhere.test(one) || !map.tests.includes(one)))
  const tests = why === null ? [...picked].sort() : [...known].sort()
  return { tests, seconds: tests.reduce((sum, one) => sum + (map.seconds[one] ?? 0), 0), all: known.size, why }
}

const listed = (...patterns) =>
  execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard', ...patterns], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\0')
    .filter((file) => file !== '' && existsSync(join(root, file)))

function listTests() {
  return new Set(listed('test').filter((file) => test.test(file) && !file.startsWith('test/agents/')))
}

/** The sources and tests as they are now, and who uses whose names. */
function createProject(changes) {
  const read = (file) => {
    const { before, after } = changes.get(file) ?? {}
    return after?.text ?? before?.text ?? readFileSync(join(root, file), 'utf8')
  }
  const files = listed('src-main', 'src-shared', 'src-renderer', 'test').filter((file) => /\.(ts|vue|mjs)$/.test(file))
  const owners = lazily((file) => createOwners(file, read(file)))
  /** file → importing file → its imports from it. */
  const importers = lazily(() => {
    const found = new Map()
    for (const file of files) {
      for (const { from, ...rest } of owners.get(file).imports()) {
        if (!from.startsWith('.')) continue
        const target = posix.join(posix.dirname(file), from)
        found.set(target, [...(found.get(target) ?? []), { file, ...rest }])
      }
    }
    return found
  })
  const importersOf = (file) => importers.get('').get(file) ?? []
  return {
    /** Follows names of modules to the functions that use them, and to other names; functions end it. */
    reachedFrom: (file, changed) => {
      const functions = new Map()
      const seen = new Set()
      const waiting = changed.map((owner) => ({ file, ...owner }))
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        const key = `${next.file} ${next.function} ${next.name}`
        if (seen.has(key)) continue
        seen.add(key)
        if (next.function || test.test(next.file) || next.name === '') {
          functions.set(key, next)
          if (next.name !== '') continue
        }
        for (const owner of owners.get(next.file)?.ofName(next.name) ?? []) waiting.push({ file: next.file, ...owner })
        for (const { file: importer, names, types, exported } of importersOf(next.file)) {
          if (types) continue
          for (const [name, local] of names) {
            if (name !== '*' && name !== next.name) continue
            const here = name === '*' && exported ? next.name : local
            waiting.push({ file: importer, name: here, function: false })
          }
        }
      }
      return [...functions.values()]
    },
    /** Test files that import a file, over other files. */
    importersOf: (file) => {
      const seen = new Set([file])
      for (const one of seen) for (const { file: importer } of importersOf(one)) seen.add(importer)
      return [...seen].filter((one) => test.test(one))
    },
    /** Test files that name a file or its folder, or use a helper that does. */
    namers: (file) => {
      const names = [basename(file), `${basename(dirname(file))}'`]
      const direct = files.filter((one) => one.startsWith('test/') && names.some((name) => read(one).includes(name)))
      return direct
        .flatMap((one) => [one, ...importersOf(one).map(({ file: importer }) => importer)])
        .filter((one) => test.test(one))
    },
  }
}

function lazily(make) {
  const made = new Map()
  return {
    get: (key) => {
      if (!made.has(key)) made.set(key, make(key))
      return made.get(key)
    },
  }
}
