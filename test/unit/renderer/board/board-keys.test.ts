import { describe, expect, test } from 'vitest'
import { boardCommand } from '../../../../src-renderer/features/board/board-keys.ts'

const press = (key: string, held: { ctrlKey?: boolean; metaKey?: boolean; altKey?: boolean } = {}) => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  ...held,
})

describe('keys on the board', () => {
  test('letters and arrows move the focus alike', () => {
    for (const [letter, arrow] of [
      ['h', 'ArrowLeft'],
      ['j', 'ArrowDown'],
      ['k', 'ArrowUp'],
      ['l', 'ArrowRight'],
    ] as const)
      expect(boardCommand(press(letter), 'card')).toEqual(boardCommand(press(arrow), 'card'))
  })

  test('what acts on a card needs a card in focus', () => {
    expect(boardCommand(press('m'), 'card')).toEqual({ kind: 'move' })
    expect(boardCommand(press('m'), 'page')).toBeNull()
    expect(boardCommand(press('Enter'), 'control')).toBeNull()
  })

  test('nothing is taken from a text field, a dialog or a menu', () => {
    for (const where of ['text', 'overlay'] as const)
      for (const key of ['c', '/', 'j', 'Escape', 'Enter']) expect(boardCommand(press(key), where)).toBeNull()
  })

  test('a key with a modifier belongs to the browser', () => {
    expect(boardCommand(press('c', { ctrlKey: true }), 'page')).toBeNull()
    expect(boardCommand(press('c', { metaKey: true }), 'page')).toBeNull()
    expect(boardCommand(press('c', { altKey: true }), 'page')).toBeNull()
    expect(boardCommand(press('c'), 'page')).toEqual({ kind: 'new' })
  })

  test('arrows on another control stay its own', () => {
    expect(boardCommand(press('ArrowDown'), 'control')).toBeNull()
    expect(boardCommand(press('j'), 'control')).toEqual({ kind: 'focus', to: 'down' })
  })
})
