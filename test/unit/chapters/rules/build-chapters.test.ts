import fc from 'fast-check'
import { expect, test } from 'vitest'
import { buildChapters } from '../../../../src-main/chapters/rules/build-chapters.ts'
import { checkPartition } from '../../../../src-main/chapters/rules/check-partition.ts'
import type { ChangeFacts } from '../../../../src-main/chapters/rules/facts.ts'
import type { HunkSyntax } from '../../../../src-main/chapters/rules/syntax.ts'
import { factsOf, type FileSides } from '../../../helpers/change-facts.ts'

const syntaxOf = (facts: ChangeFacts, of: (path: string) => Partial<HunkSyntax>): ChangeFacts => ({
  ...facts,
  syntax: new Map(
    facts.files.flatMap((file) => file.hunks.map(({ id }) => [id, { ...nothing, id, ...of(file.path) }] as const)),
  ),
})
const nothing: HunkSyntax = {
  id: '',
  has_old: true,
  old_symbol: null,
  new_symbol: null,
  defines: [],
  old_names: [],
  new_names: [],
  uses: [],
  is_formatting: false,
  rename: null,
}
const numbered = (count: number): string => Array.from({ length: count }, (_, at) => `line ${at}\n`).join('')
const paths = (facts: ChangeFacts): unknown =>
  buildChapters(facts).chapters.map(({ kind, hunks }) => [kind, [...new Set(hunks.map(({ hunk }) => hunk.path))]])

test('puts what others depend on first, then its tests, then the rest', () => {
  const files = ['a/api.ts', 'test/store.test.ts', 'b/store.ts', 'README.md', 'c/apart.ts']
  const facts = factsOf(Object.fromEntries(files.map((path) => [path, { before: 'a\n', after: `b ${path}\n` }])))
  const known: Readonly<Record<string, Partial<HunkSyntax>>> = {
    'b/store.ts': { defines: ['createStore'], uses: ['createStore'] },
    'a/api.ts': { uses: ['createStore', 'nothing'] },
    'test/store.test.ts': { uses: ['createStore'] },
  }
  expect(paths(syntaxOf(facts, (path) => known[path] ?? {}))).toEqual([
    ['core', ['b/store.ts', 'a/api.ts']],
    ['tests', ['test/store.test.ts']],
    ['core', ['c/apart.ts']],
    ['other', ['README.md']],
  ])
})

test('puts files that need each other in an order, and those with risks before their equals', () => {
  const files = ['one/a.ts', 'one/b.ts', 'two/c.ts', 'three/d.ts']
  const facts = factsOf(
    Object.fromEntries(
      files.map((path) => [path, { before: 'a\n', after: path === 'three/d.ts' ? 'eval(x)\n' : `b ${path}\n` }]),
    ),
  )
  const circle = syntaxOf(facts, (path) => {
    if (path === 'one/a.ts') return { defines: ['first'], uses: ['second'] }
    return path === 'one/b.ts' ? { defines: ['second'], uses: ['first'] } : {}
  })
  expect(paths(circle)).toEqual([
    ['core', ['three/d.ts']],
    ['core', ['one/a.ts', 'one/b.ts']],
    ['core', ['two/c.ts']],
  ])
})

test('folds lock files and what the base calls generated, last, but never a hunk with a risk', () => {
  const change = { before: 'a\n', after: 'b\n' }
  const facts = factsOf({
    'gen/client.ts': { ...change, is_generated: true },
    'gen/odd.ts': { before: 'a\n', after: 'eval(b)\n', is_generated: true },
    'yarn.lock': change,
    'src/marked.ts': { before: 'a\n', after: '// DO NOT EDIT\nb\n' },
  })
  const { chapters } = buildChapters(facts)
  expect(chapters.map(({ kind, folded, hunks }) => [kind, folded, hunks.map(({ hunk }) => hunk.path)])).toEqual([
    ['core', false, ['gen/odd.ts']],
    ['core', false, ['src/marked.ts']],
    ['generated', true, ['gen/client.ts', 'yarn.lock']],
  ])
})

test('folds a pure rename and line ends, and no other change without a grammar', () => {
  const facts = factsOf({
    'new.txt': { before: 'a\n', after: 'a\n', old_path: 'old.txt', cause: 'rename' },
    'edited.txt': { before: 'a\n', after: 'b\n', old_path: 'was.txt', cause: 'rename' },
    'ends.txt': { before: 'a\r\nb\r\n', after: 'a\nb\n' },
    run: { before: '#!/bin/sh\n', after: '#!/bin/sh\r\n' },
    'space.txt': { before: 'a b\n', after: 'a  b\n' },
  })
  const folded = buildChapters(facts).chapters.filter((chapter) => chapter.folded)
  expect(folded.map(({ kind, hunks }) => [kind, hunks.map(({ hunk }) => hunk.path)])).toEqual([
    ['renamed', ['new.txt']],
    ['formatted', ['ends.txt']],
  ])
})

test('tells lock files as packages', () => {
  const lock = (version: string): string => JSON.stringify({ packages: { 'node_modules/a': { version } } }, null, 2)
  const { chapters } = buildChapters(factsOf({ 'package-lock.json': { before: lock('1.0.0'), after: lock('1.1.0') } }))
  expect(chapters).toMatchObject([
    { kind: 'generated', folded: true, packages: [{ name: 'a', from: '1.0.0', to: '1.1.0' }] },
  ])
})

test('cuts what is longer than 400 lines, but no hunk', () => {
  const { chapters } = buildChapters(
    factsOf({
      'src/a.ts': { before: null, after: numbered(300) },
      'src/b.ts': { before: null, after: numbered(200) },
      'src/c.ts': { before: null, after: numbered(900) },
    }),
  )
  expect(chapters.map(({ hunks }) => hunks.map(({ hunk }) => hunk.path))).toEqual([
    ['src/a.ts'],
    ['src/b.ts'],
    ['src/c.ts'],
  ])
})

test('has each hunk in one chapter of at most 400 lines, whatever changes', () => {
  const line = fc.constantFrom('', 'a', '  a', 'function f() {', '}', 'eval(x)', 'test(', 'return a', 'x\r')
  const text = fc.array(line, { maxLength: 12 }).map((lines) => lines.map((one) => `${one}\n`).join(''))
  const side = fc.option(fc.oneof({ weight: 9, arbitrary: text }, { weight: 1, arbitrary: fc.constant(numbered(450)) }))
  const cause = fc.constantFrom('binary', 'mode', 'rename', 'large', 'empty', 'submodule', undefined)
  const path = fc.constantFrom(
    'src/a.ts',
    'src/b.ts',
    'lib/c.py',
    'a.test.ts',
    'test/b.ts',
    'package.json',
    'yarn.lock',
    'README.md',
    'x/y/z',
    'package-lock.json',
  )
  const file = fc
    .record({ before: side, after: side, cause, is_generated: fc.boolean() })
    .map(({ cause: one, ...sides }): FileSides => (one === undefined ? sides : { ...sides, cause: one }))
  const name = fc.constantFrom('first', 'second', 'third')
  const known = fc.record({
    defines: fc.array(name, { maxLength: 2 }),
    uses: fc.array(name, { maxLength: 2 }),
    is_formatting: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.dictionary(path, fc.tuple(file, fc.option(known)), { maxKeys: 10 }), (given) => {
      const facts = factsOf(Object.fromEntries(Object.entries(given).map(([key, [sides]]) => [key, sides])))
      const { chapters, risks } = buildChapters(syntaxOf(facts, (key) => given[key]?.[1] ?? {}))
      const ids = facts.files.flatMap(({ hunks }) => hunks.map(({ id }) => id))
      const told = chapters.map(({ hunks }) => ({ hunks: hunks.map(({ hunk }) => hunk.id) }))
      expect(checkPartition(told, ids)).toBeNull()
      for (const { hunks, id } of chapters) {
        expect(hunks[0]?.hunk.id).toBe(id)
        const lines = hunks.reduce((sum, { hunk }) => sum + hunk.added.length + hunk.removed.length, 0)
        expect(lines <= 400 || hunks.length === 1).toBe(true)
      }
      const risky = new Set(risks.map(({ hunk }) => hunk))
      for (const { folded, hunks } of chapters)
        if (folded) expect(hunks.some(({ hunk }) => risky.has(hunk.id))).toBe(false)
    }),
    { numRuns: 10_000 },
  )
})

test('divides 5,000 files that need each other', () => {
  const nameOf = (at: number): string => `src/part${at % 40}/file${at}.ts`
  const count = 5_000
  const files = Object.fromEntries(
    Array.from({ length: count }, (_, at) => [nameOf(at), { before: 'a\n', after: `b ${at}\n` }]),
  )
  const numberOf = (path: string): number => Number(/(\d+)\.ts$/.exec(path)?.[1])
  const facts = syntaxOf(factsOf(files), (path) => {
    const at = numberOf(path)
    return { defines: [`create${at}`], uses: [`create${(at * 7) % count}`, `create${(at + 1) % count}`] }
  })
  const { chapters } = buildChapters(facts)
  const ids = facts.files.flatMap(({ hunks }) => hunks.map(({ id }) => id))
  expect(
    checkPartition(
      chapters.map(({ hunks }) => ({ hunks: hunks.map(({ hunk }) => hunk.id) })),
      ids,
    ),
  ).toBeNull()
})

test('divides a file of 150,000 hunks', () => {
  const count = 150_000
  const facts = factsOf({ 'a.txt': { before: 'a\nb\n'.repeat(count), after: 'c\nb\n'.repeat(count) } })
  const { chapters } = buildChapters(facts)
  expect(chapters.reduce((sum, { hunks }) => sum + hunks.length, 0)).toBe(count)
  expect(Math.max(...chapters.map(({ hunks }) => hunks.length))).toBe(200)
})
