import { expect, test } from 'vitest'
import { suggestionBlock, suggestionIn, withoutSuggestion } from '../../../src-shared/contract/suggestions.ts'

test('a suggestion is the lines of the first block of that name', () => {
  expect(suggestionIn('Better:\n```suggestion\na\n  b\n```\nOr not.')).toEqual(['a', '  b'])
  expect(suggestionIn('~~~ suggestion\r\na\r\n~~~')).toEqual(['a'])
  expect(suggestionIn('```suggestion\n```')).toEqual([])
  expect(suggestionIn('```suggestion\n\n```')).toEqual([''])
})

test('other blocks, and one that does not end, suggest nothing', () => {
  expect(suggestionIn('```ts\na\n```')).toBeNull()
  expect(suggestionIn('```suggestion\na')).toBeNull()
  expect(suggestionIn('    ```suggestion\n    a\n    ```')).toBeNull()
})

test('what is made is read again, fences in it too', () => {
  for (const lines of [[], [''], ['a'], ['```ts', 'x', '```'], ['`````']])
    expect(suggestionIn(suggestionBlock(lines))).toEqual(lines)
})

test('the words around it stay', () => {
  expect(withoutSuggestion('Better:\n```suggestion\na\n```\nOr not.')).toBe('Better:\nOr not.')
  expect(withoutSuggestion('```suggestion\na\n```')).toBe('')
  expect(withoutSuggestion('Only words')).toBe('Only words')
})
