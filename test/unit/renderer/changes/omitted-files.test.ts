import { expect, test } from 'vitest'
import { omittedSentence } from '../../../../src-renderer/features/changes/omitted-files.ts'

const whole = { truncated: false, reason: null }
const binary = { truncated: false, reason: 'binary' } as const
const large = { truncated: true, reason: 'too_large' } as const
const over = { truncated: true, reason: 'budget' } as const

test('says nothing if every file has its lines, or can’t have any', () => {
  expect(omittedSentence([])).toBeNull()
  expect(omittedSentence([whole, binary])).toBeNull()
})

test('gives the reason for what is left out', () => {
  expect(omittedSentence([whole, large])).toContain('1 file with more than 1 MB of changes.')
  expect(omittedSentence([over, over])).toContain('2 files beyond the first 8 MB.')
  expect(omittedSentence([large, over])).toContain('1 file with more than 1 MB of changes and 1 file beyond')
})
