import { expect, test } from 'vitest'
import { codeTokens, markedPieces } from '../../../../src-renderer/components/edits/code-tokens.ts'
import { highlightLines, numberedRows, sideOf } from '../../../../src-renderer/components/edits/diff-rows.ts'
import { diffLines } from '../../../../src-renderer/components/edits/line-diff.ts'

const { lines } = diffLines(
  'const a = 1\nconst b = 2\nconst c = 3\n',
  'const a = 1\nconst b = 20\nconst d = 4\nconst c = 3\n',
)

test('numbers the lines of an edit as in the file', () => {
  const numbers = (first: number | null) =>
    numberedRows(lines, first).map(({ sign, number }) => `${sign}${number ?? ''}`)
  expect(numbers(41)).toEqual([' 40', '-41', '+41', '+42', ' 43'])
  expect(numbers(null)).toEqual([' ', '-', '+', '+', ' '])
  expect(numberedRows(diffLines(null, 'one\ntwo\n').lines, 1).map(({ number }) => number)).toEqual([1, 2])
})

test('cuts marks out of the colours and loses nothing', () => {
  const line = [
    { text: 'const', colour: 'red' },
    { text: ' b = ', colour: null },
    { text: '20', colour: 'blue' },
  ]
  expect(markedPieces(line, [3, 11])).toEqual([
    { text: 'con', colour: 'red', marked: false },
    { text: 'st', colour: 'red', marked: true },
    { text: ' b = ', colour: null, marked: true },
    { text: '2', colour: 'blue', marked: true },
    { text: '0', colour: 'blue', marked: false },
  ])
  expect(markedPieces(line, null).every(({ marked }) => !marked)).toBe(true)
})

test('colours each line as on its own side', async () => {
  const [before, after] = await Promise.all([
    codeTokens('src/a.ts', sideOf(lines, 'before')),
    codeTokens('src/a.ts', sideOf(lines, 'after')),
  ])
  const coloured = highlightLines(lines, before, after)
  expect(coloured.map((line) => line.map(({ text }) => text).join(''))).toEqual(lines.map(({ text }) => text))
  for (const line of coloured) expect(line[0]?.colour).toContain('token-keyword')
  expect(await codeTokens('notes', 'const a = 1')).toBeNull()
  expect(await codeTokens('src/a.ts', 'x'.repeat(50_000))).toBeNull()
})
