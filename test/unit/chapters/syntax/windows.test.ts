import { expect, test } from 'vitest'
import { windowsOf } from '../../../../src-main/chapters/syntax/windows.ts'

const text = [
  "import { a } from './a.ts'",
  '',
  'export class One {',
  '  first() {',
  '    return 1',
  '  }',
  '}',
  '',
  '// About two.',
  'function two() {',
  '  return 2',
  '}',
  'function three() {',
  '  return 3',
  '}',
  'function four() {',
  '  return 4',
  '}',
  '',
].join('\n')

const linesIn = (spans: readonly (readonly [number, number])[], given = text): readonly string[] | null => {
  const windows = windowsOf(
    given,
    spans.map((span) => ({ new: span })),
  )
  return windows && windows.map(({ startIndex, endIndex }) => given.slice(startIndex, endIndex))
}

test('takes what is around the lines, from one line at the left edge to the next', () => {
  expect(linesIn([[11, 1]])).toEqual(['function two() {\n  return 2\n}\n'])
  expect(linesIn([[5, 1]])).toEqual([text.slice(text.indexOf('export'), text.indexOf('function two'))])
  expect(linesIn([[17, 2]])).toEqual(['function four() {\n  return 4\n}\n'])
  expect(linesIn([[1, 1]])).toEqual(["import { a } from './a.ts'\n\n"])
})

test('joins what overlaps, leaves out hunks that only remove, and takes the whole of a text instead of most of it', () => {
  expect(
    linesIn([
      [11, 1],
      [14, 0],
      [17, 1],
    ]),
  ).toEqual(['function two() {\n  return 2\n}\n', 'function four() {\n  return 4\n}\n'])
  expect(
    linesIn([
      [11, 1],
      [12, 2],
    ]),
  ).toEqual(['function two() {\n  return 2\n}\nfunction three() {\n  return 3\n}\n'])
  expect(
    linesIn([
      [4, 1],
      [11, 1],
      [14, 1],
      [17, 1],
    ]),
  ).toBeNull()
})

test('has positions as the text has them', () => {
  const given = 'ü()\n\nfunction two() {\n  return "ü"\n}\nfunction three() {\n  return 333333333333333333\n}\n'
  expect(windowsOf(given, [{ new: [4, 1] }])).toEqual([
    {
      startPosition: { row: 2, column: 0 },
      endPosition: { row: 5, column: 0 },
      startIndex: 5,
      endIndex: given.indexOf('function three'),
    },
  ])
})

test('looks at no line twice, however many hunks there are', () => {
  const count = 150_000
  const given = `a {\n${'  b\n  c\n'.repeat(count)}}\n`
  const hunks = Array.from({ length: count }, (_, at) => ({ new: [2 + 2 * at, 1] as const }))
  expect(windowsOf(given, hunks)).toBeNull()
})
