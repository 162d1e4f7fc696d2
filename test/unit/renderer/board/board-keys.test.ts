import { expect, test } from 'vitest'
import { boardTakes } from '../../../../src-renderer/features/board/board-keys.ts'

test('acts on a card only if one has the focus', () => {
  expect(boardTakes('card', 'card', 'm')).toBe(true)
  expect(boardTakes('card', 'page', 'm')).toBe(false)
  expect(boardTakes('card', 'control', 'Enter')).toBe(false)
})

test('takes no key from a text field, a dialog or a menu', () => {
  for (const where of ['text', 'overlay'] as const)
    for (const kind of ['card', 'focus', 'page'] as const) expect(boardTakes(kind, where, 'j')).toBe(false)
})

test('leaves arrows to other controls', () => {
  expect(boardTakes('focus', 'control', 'ArrowDown')).toBe(false)
  expect(boardTakes('focus', 'control', 'j')).toBe(true)
  expect(boardTakes('focus', 'card', 'ArrowDown')).toBe(true)
})
