import { expect, test } from 'vitest'
import { plain } from '../../../src-main/cli/output.ts'
import { escapeControls, escapeHidden, withoutControls } from '../../../src-shared/lang/hidden-characters.ts'

test('escapes invisible characters and those that reorder text', () => {
  expect(escapeHidden('if (admin\u202e) // \u2066ok\u2069')).toBe('if (admin<U+202E>) // <U+2066>ok<U+2069>')
  expect(escapeHidden('a\u200bb\ufeffc\u00add\u{e0041}e\u3164f\u200dg\ufe0fh')).toBe(
    'a<U+200B>b<U+FEFF>c<U+00AD>d<U+E0041>e<U+3164>f<U+200D>g<U+FE0F>h',
  )
})

test('keeps tabs, right-to-left scripts and emoji', () => {
  for (const text of ['\ta b', 'שלום', 'e\u0301', '👩\u200d💻', '❤\ufe0f\u200d🔥', '⚠\ufe0f done'])
    expect(escapeHidden(text)).toBe(text)
})

test('escapes them for a terminal, and removes controls', () => {
  expect(plain('\u001b[31mred\u202e')).toBe('[31mred<U+202E>')
})

test('marks what no text needs, and leaves it out of names', () => {
  const text = 'a\u001b[2K\u202eb\u200cc\td\r\ne\rf'
  expect(escapeHidden(text)).toBe('a<U+001B>[2K<U+202E>b<U+200C>c\td\r\ne<U+000D>f')
  expect(escapeControls(text)).toBe('a<U+001B>[2K<U+202E>b\u200cc\td\r\ne\rf')
  expect(withoutControls(text)).toBe('a[2Kb\u200cc\td\r\ne\rf')
})
