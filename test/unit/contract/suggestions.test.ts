import { expect, test } from 'vitest'
import { suggestionBlock, suggestionIn, withoutSuggestion } from '../../../src-shared/contract/suggestions.ts'

test('reads the first suggestion block', () => {
  expect(suggestionIn('Better:\n```suggestion\na\n  b\n```\nOr not.')).toEqual(['a', '  b'])
  expect(suggestionIn('~~~ suggestion\r\na\r\n~~~')).toEqual(['a'])
  expect(suggestionIn('```suggestion\n```')).toEqual([])
  expect(suggestionIn('```suggestion\n\n```')).toEqual([''])
})

test('ignores other blocks and one without end', () => {
  expect(suggestionIn('```ts\na\n```')).toBeNull()
  expect(suggestionIn('```suggestion\na')).toBeNull()
  expect(suggestionIn('    ```suggestion\n    a\n    ```')).toBeNull()
})

test('reads back what it wrote, fences included', () => {
  for (const lines of [[], [''], ['a'], ['```ts', 'x', '```'], ['`````']])
    expect(suggestionIn(suggestionBlock(lines))).toEqual(lines)
})

test('keeps the text around it', () => {
  expect(withoutSuggestion('Better:\n```suggestion\na\n```\nOr not.')).toBe('Better:\nOr not.')
  expect(withoutSuggestion('```suggestion\na\n```')).toBe('')
  expect(withoutSuggestion('Only words')).toBe('Only words')
})
