import { expect, test } from 'vitest'
import { commandList } from '../../../../src-renderer/model/command-list.ts'
import { bindingOf, clash, keyLine, keyNames } from '../../../../src-renderer/model/key-names.ts'

const press = (key: string, held: Partial<Record<'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey', boolean>> = {}) => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...held,
})

test('names keys as on the keyboard', () => {
  expect(keyNames('g b', false)).toEqual([['G'], ['B']])
  expect(keyNames('$mod+k', false)).toEqual([['Ctrl', 'K']])
  expect(keyNames('$mod+k', true)).toEqual([['⌘', 'K']])
  expect(keyNames('[Shift]+?', false)).toEqual([['?']])
  expect(keyNames('[Shift]+[', false)).toEqual([['[']])
  expect(keyNames('Control++', false)).toEqual([['Ctrl', '+']])
  expect(keyLine('g b', false)).toBe('G then B')
})

test('turns a press into a binding that the same press matches', () => {
  expect(bindingOf(press('C', { shiftKey: true }), false)).toBe('Shift+c')
  expect(bindingOf(press('k', { ctrlKey: true }), false)).toBe('$mod+k')
  expect(bindingOf(press('k', { metaKey: true }), true)).toBe('$mod+k')
  expect(bindingOf(press('?', { shiftKey: true }), false)).toBe('[Shift]+?')
  expect(bindingOf(press('ArrowUp', { altKey: true }), false)).toBe('Alt+ArrowUp')
  expect(bindingOf(press('Shift', { shiftKey: true }), false)).toBeNull()
})

test('has no conflict among the default keys', () => {
  const all = commandList.flatMap(({ id, keys }) => keys.map((binding) => ({ id, binding })))
  // One is for cards or notifications, the other for a diff; what an agent asks is a permission or a question.
  const apart = [
    new Set(['priority', 'previous-change']),
    new Set(['read', 'next-unread']),
    new Set(['allow', 'allow-run', 'deny', 'answer']),
  ]
  for (const one of all)
    for (const other of all) {
      if (one.id === other.id || apart.some((ids) => ids.has(one.id) && ids.has(other.id))) continue
      expect(clash(one.binding, other.binding), `${one.id} and ${other.id}`).toBe(false)
    }
  expect(clash('g', 'g b')).toBe(true)
})
