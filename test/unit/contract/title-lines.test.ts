import { expect, test } from 'vitest'
import { titleLines } from '../../../src-shared/contract/title-lines.ts'

test('each line that says something is a title, without the mark of a list', () => {
  const text = 'Plain\r\n\n  - Listed\n* [ ] To do\n- [x] Done\n12. Numbered\n3) So too\n-5 is no mark\n2026 plan\n'
  expect(titleLines(text)).toEqual([
    'Plain',
    'Listed',
    'To do',
    'Done',
    'Numbered',
    'So too',
    '-5 is no mark',
    '2026 plan',
  ])
})
