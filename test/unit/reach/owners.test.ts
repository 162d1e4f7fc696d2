import { expect, test } from 'vitest'

interface Owner {
  readonly name: string
  readonly function: boolean
}
interface Owners {
  ofLines(lines: ReadonlySet<number>): readonly Owner[]
  ofName(name: string): readonly Owner[]
  imports(): readonly object[]
}
const script = new URL('../../../scripts/reach/owners.mjs', import.meta.url).href
const { createOwners } = (await import(script)) as { createOwners(file: string, text: string): Owners }

const linesWith = (text: string, part: string) =>
  new Set(text.split('\n').flatMap((line, index) => (line.includes(part) ? [index + 1] : [])))
const ownersOf = (file: string, text: string, part: string) =>
  createOwners(file, text)
    .ofLines(linesWith(text, part))
    .map(({ name, function: isFunction }) => (isFunction ? `${name}()` : name))

const source = `
import { readFile, type Stats } from 'node:fs'
/** A comment about the limit. */
export const limit = 3
export interface Shape { readonly size: number }
export const longer = (text: string): boolean => text.length > limit
export const table = {
  first: 1,
  make(text: string) { return [text].map((one) => one.trim()) },
  check: () => longer('checked'),
}
export class Store {
  #count = 0
  get size() { return this.#count }
  add() { this.#count += 1 }
}
export function work() {
  const inner = () => { void 'innermost' }
  return Promise.all([1].map(async (one) => { inner(); return 'anonymous' + one }))
}
work()
`

test.each([
  ['comment about', []],
  ['interface Shape', []],
  ['limit = 3', ['limit']],
  ['text.length', ['longer()']],
  ['first: 1', ['table']],
  ['trim()', ['make()']],
  ["longer('checked')", ['check()']],
  ['get size', ['size()']],
  ['+= 1', ['add()']],
  ["'innermost'", ['inner()']],
  ["'anonymous'", ['work()']],
  ['node:fs', ['readFile', 'Stats']],
])('finds what the line with “%s” belongs to', (part, expected) => {
  expect(ownersOf('a.ts', source, part)).toEqual(expected)
})

test('finds a statement that declares nothing as code of the module', () => {
  const last = source.trimEnd().split('\n').length
  expect(createOwners('a.ts', source).ofLines(new Set([last]))).toEqual([{ name: '', function: false }])
})

test('finds who uses a name, not where it is part of another', () => {
  const names = createOwners('a.ts', source).ofName('limit')
  expect(names).toContainEqual({ name: 'longer', function: true })
  expect(names.map(({ name }) => name)).not.toContain('work')
})

const component = `<script setup lang="ts">
import { rows } from './rows.ts'
const shown = rows.slice(1)
function press() { shown.push('pressed') }
</script>

<template>
  <b @click="press">{{ shown }} of a label</b>
</template>
`

test.each([
  ['slice(1)', ['setup()']],
  ["'pressed'", ['press()']],
  ['of a label', ['setup()']],
])('takes a component’s own code for its set-up: “%s”', (part, expected) => {
  expect(ownersOf('A.vue', component, part)).toEqual(expected)
})

test('lists imports with the local names, and what is exported on', () => {
  const text = `import a, { b as c } from './x.ts'\nimport type { T } from './t.ts'\nexport * from './y.ts'\nexport { d } from './z.ts'`
  expect(createOwners('a.ts', text).imports()).toMatchObject([
    {
      from: './x.ts',
      names: [
        ['default', 'a'],
        ['b', 'c'],
      ],
    },
    { from: './t.ts', types: true },
    { from: './y.ts', names: [['*', '*']], exported: true },
    { from: './z.ts', names: [['d', 'd']], exported: true },
  ])
})
