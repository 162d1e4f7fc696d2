import { expect, test } from 'vitest'
import { createKeptSyntax } from '../../../../src-main/chapters/syntax/kept-syntax.ts'
import type { HunkSyntax } from '../../../../src-main/chapters/rules/syntax.ts'
import { changedFile } from '../../../helpers/line-hunks.ts'

const file = (text: string) => changedFile('a.ts', '', text)
const hunk = (uses: readonly string[]): readonly HunkSyntax[] => [
  {
    id: 'a',
    has_old: true,
    old_symbol: null,
    new_symbol: null,
    defines: [],
    old_names: [],
    new_names: [],
    uses,
    is_formatting: false,
    rename: null,
  },
]

test('keeps what was used last, up to a limit, by both contents', () => {
  const kept = createKeptSyntax(700)
  const [one, two, three] = [file('one()\n'), file('two()\n'), file('three()\n')]
  for (const each of [one, two, three]) {
    kept.put(each, hunk([each.new_text ?? '']))
    expect(kept.get(one)).toEqual(hunk(['one()\n']))
  }
  expect(kept.get(two)).not.toBeNull()
  kept.put(file('four()\n'), hunk([]))
  expect([one, two, three].map((each) => kept.get(each) !== null)).toEqual([true, true, false])
  expect(kept.get({ ...two, old_text: null })).toBeNull()
  expect(kept.get({ ...two, new_text: 'two() \n' })).toBeNull()
  kept.put(file('huge()\n'), hunk(['x'.repeat(10_000)]))
  expect(kept.get(file('huge()\n'))).toBeNull()
})
