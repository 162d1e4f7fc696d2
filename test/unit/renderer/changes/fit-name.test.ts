import { expect, test } from 'vitest'
import { fitName } from '../../../../src-renderer/features/changes/fit-name.ts'

/** Every character is one wide. */
const widthOf = (text: string) => [...new Intl.Segmenter().segment(text)].length

test.each([
  ['fares.ts', 8, 'fares.ts'],
  ['passengers.test.ts', 12, 'passenge….ts'],
  ['passengers.test.ts', 3, 'p….ts'],
  ['Makefile', 5, 'Make…'],
  [
    '\u{1F468}\u200D\u{1F469}\u200D\u{1F467}\u{1F468}\u200D\u{1F469}\u200D\u{1F467}x.ts',
    5,
    '\u{1F468}\u200D\u{1F469}\u200D\u{1F467}….ts',
  ],
])('cuts %s before its ending at a width of %i, without a gap', (name, width, shown) => {
  expect(fitName(name, width, '', widthOf)).toBe(shown)
})
