import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readMerge } from '../../../src-main/git/commands/merge-output.ts'

const id = '0123456789abcdef0123456789abcdef01234567'

interface Entry {
  readonly key: string
  readonly stages: readonly { readonly mode: string; readonly number: number }[]
}
interface Message {
  readonly paths: readonly string[]
  readonly type: string
  readonly text: string
}

/** The output of `git merge-tree -z --messages`. */
function output(entries: readonly Entry[], messages: readonly Message[], exit_code = 1) {
  const stages = entries.flatMap(({ key, stages: all }) =>
    all.map(({ mode, number }) => `${mode} ${id} ${number}\t${key}\0`),
  )
  const said = messages.map(({ paths, type, text }) =>
    [paths.length, ...paths, type, text].map((part) => `${part}\0`).join(''),
  )
  return { exit_code, stdout: Buffer.from(`${id}\0${stages.join('')}\0${said.join('')}`, 'latin1') }
}

const stage = (number: number, mode = '100644') => ({ mode, number })
const text = (...numbers: readonly number[]) => numbers.map((number) => stage(number))
const kindsOf = (entry: Entry, types: readonly string[]) =>
  readMerge(
    output(
      [entry],
      types.map((type) => ({ paths: [entry.key], type, text: 'A sentence.\n' })),
    ),
    [],
  ).paths.map(({ kind }) => kind)

test.each([
  [text(1, 2, 3), ['Auto-merging', 'CONFLICT (contents)'], 'content'],
  [text(2, 3), ['CONFLICT (contents)'], 'add/add'],
  [text(1, 2), ['CONFLICT (modify/delete)'], 'modify/delete'],
  [text(1, 3), [], 'modify/delete'],
  [text(1, 2), ['CONFLICT (rename/delete)', 'CONFLICT (modify/delete)'], 'rename/delete'],
  [text(2), ['CONFLICT (rename/rename)'], 'rename/rename'],
  [text(1, 2, 3), ['CONFLICT (binary)', 'CONFLICT (contents)'], 'binary'],
  [text(2), ['CONFLICT (file/directory)'], 'file/directory'],
  [[stage(1, '120000'), stage(2, '120000'), stage(3, '120000')], ['CONFLICT (contents)'], 'symlink'],
  [[stage(2, '100644'), stage(3, '120000')], ['CONFLICT (distinct modes)'], 'file/type'],
  [[stage(1, '160000'), stage(2, '160000'), stage(3, '160000')], ['CONFLICT (submodule)'], 'submodule'],
] as const)('derives from the stages %j and the messages %j the kind %s', (stages, types, kind) => {
  expect(kindsOf({ key: 'a.txt', stages }, types)).toEqual([kind])
})

test('does not use the message of one path for another', () => {
  const entries = ['a', 'b'].map((key) => ({ key, stages: text(1, 2, 3) }))
  const messages = [{ paths: ['b'], type: 'CONFLICT (binary)', text: 'x' }]
  expect(readMerge(output(entries, messages), []).paths.map(({ kind }) => kind)).toEqual(['content', 'binary'])
})

test('lists a file that git put beside a folder under its own name', () => {
  const sides = ['a'.repeat(40), 'b'.repeat(40)]
  const entries = [
    { key: `thing~${sides[1]}`, stages: text(3) },
    { key: 'other~mine', stages: text(2, 3) },
  ]
  expect(readMerge(output(entries, []), sides).paths.map(({ path }) => path)).toEqual(['thing', 'other~mine'])
})

const auto = { paths: ['a'], type: 'Auto-merging', text: 'Auto-merging a\n' }
const collision = {
  paths: ['onto', 'from'],
  type: 'CONFLICT (rename involved in collision)',
  text: 'CONFLICT (rename involved in collision): rename of from -> onto has content conflicts …\n',
}

test('takes a merge without a conflict message for merged', () => {
  expect(readMerge(output([], [auto], 0), [])).toEqual({ tree: id, paths: [] })
  expect(readMerge(output([], [], 0), [])).toEqual({ tree: id, paths: [] })
})

test('finds a conflict where git leaves markers, alone or beside others', () => {
  const onto = { key: 'onto', path: 'onto', kind: 'rename/collision' }
  expect(readMerge(output([], [auto, collision], 0), []).paths).toEqual([onto])
  const other = { key: 'a', stages: text(1, 2, 3) }
  const found = readMerge(output([other], [auto, collision, collision]), []).paths
  expect(found).toEqual([{ key: 'a', path: 'a', kind: 'content' }, onto])
  expect(readMerge(output([{ key: 'onto', stages: text(2, 3) }], [collision]), []).paths).toEqual([onto])
})

test('rejects a conflict without a file', () => {
  expect(() => readMerge(output([], [{ paths: [], type: 'CONFLICT', text: 'x' }]), [])).toThrow('named no file')
})

test('reads every unmerged path once, in order, byte for byte', () => {
  const byte = fc.integer({ min: 1, max: 255 }).map((code) => String.fromCharCode(code))
  const bytes = fc.array(byte, { minLength: 1, maxLength: 12 }).map((all) => all.join(''))
  const stages = fc.subarray([1, 2, 3], { minLength: 1 }).map((numbers) => text(...numbers))
  const entries = fc.uniqueArray(fc.record({ key: bytes, stages }), {
    minLength: 1,
    maxLength: 8,
    selector: ({ key }) => key,
  })
  const message = fc.record({ paths: fc.array(bytes, { maxLength: 3 }), type: bytes, text: bytes })
  fc.assert(
    fc.property(entries, fc.array(message, { maxLength: 6 }), (known, messages) => {
      const read = readMerge(output(known, messages), [])
      expect(read.tree).toBe(id)
      expect(read.paths.map(({ key }) => key)).toEqual(known.map(({ key }) => key))
      expect(read.paths.map(({ path }) => path)).toEqual(
        known.map(({ key }) => Buffer.from(key, 'latin1').toString('utf8')),
      )
    }),
  )
})
