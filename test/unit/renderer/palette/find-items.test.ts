import { expect, test } from 'vitest'
import { findItems, type PaletteItem } from '../../../../src-renderer/features/palette/find-items.ts'
import { synonyms } from '../../../../src-renderer/features/palette/synonyms.ts'

const task = (id: string, text: string, words = '', ref = `FER-${parseInt(id, 16)}`): PaletteItem => ({
  id: `task-${id}`,
  kind: 'task',
  group: 'Tasks',
  text,
  ref,
  words,
})
const action = (text: string): PaletteItem => ({ id: text, kind: 'action', group: 'Actions', text })
const items: readonly PaletteItem[] = [
  action('Move to state, 5fd07a'),
  task('5fd07a1b', 'Lease deliveries so two workers never send the same event', 'delivery'),
  task('d0418a2c', 'Release notes from merged tasks'),
  { id: 'p', kind: 'project', group: 'Projects', text: 'ferry', words: '/home/me/lease-server' },
  { id: 'limits', kind: 'setting', group: 'Settings', text: 'Limits' },
]
const found = (typed: string) =>
  findItems(items, typed).map(({ group, items: own }) => [group, own.map(({ item }) => item.id)])

test('lists tasks before actions, projects and settings, best matches first', () => {
  expect(found('lease')).toEqual([
    ['Tasks', ['task-5fd07a1b', 'task-d0418a2c']],
    ['Projects', ['p']],
  ])
  expect(found('').map(([group]) => group)).toEqual(['Tasks', 'Actions', 'Projects', 'Settings'])
  expect(found('nothing like it')).toEqual([])
})

test('marks the matched text, but not matches beside it', () => {
  const [tasks] = findItems(items, 'lease')
  expect(tasks?.items[0]?.pieces[0]).toEqual({ text: 'Lease', hit: true })
  expect(tasks?.items[1]?.pieces.filter(({ hit }) => hit)).toEqual([{ text: 'lease', hit: true }])
  expect(
    findItems(items, 'delivery')[0]
      ?.items[0]?.pieces.map(({ text }) => text)
      .join(''),
  ).toBe(items[1]?.text)
})

test('finds only actions with >, and tasks by ID with #', () => {
  expect(found('>')).toEqual([['Actions', ['Move to state, 5fd07a']]])
  expect(found('> move')).toEqual([['Actions', ['Move to state, 5fd07a']]])
  expect(found('>ferry')).toEqual([])
  expect(found('#5FD0')).toEqual([['Tasks', ['task-5fd07a1b']]])
})

test('finds a task by its exact name first', () => {
  const called = [
    task('aaaaaaa1', 'Raise the limit to 42', '', 'FER-7'),
    task('aaaaaaa2', 'Sort the list', '', 'FER-42'),
    task('aaaaaaa3', 'Other', '', 'LAN-42'),
    task('aaaaaaa4', 'Longer', '', 'FER-420'),
  ]
  const ids = (typed: string) => findItems(called, typed)[0]?.items.map(({ item }) => item.ref)
  expect(ids('fer-42')?.[0]).toBe('FER-42')
  expect(ids('FER-420')).toEqual(['FER-420'])
  expect(ids('42')?.slice(0, 3)).toEqual(['FER-42', 'LAN-42', 'FER-420'])
  expect(ids('#42')).toEqual(['FER-42', 'LAN-42', 'FER-420'])
})

test('limits the results of each kind', () => {
  const many = Array.from({ length: 5_000 }, (_, index) => task(String(index), `Fix ${index}`))
  expect(findItems(many, 'fix')[0]?.items.length).toBe(8)
  expect(findItems([...many, action('Review')], '').map(({ items: shown }) => shown.length)).toEqual([3, 1])
})

test('puts the group of the best hit first, by its words too', () => {
  const all: readonly PaletteItem[] = [
    task('aaaaaaa1', 'Round sums to two places'),
    action('Stop agent'),
    { id: 'appearance', kind: 'setting', group: 'Settings', text: 'Appearance', words: synonyms['appearance'] ?? '' },
    { id: 'storage', kind: 'setting', group: 'Settings', text: 'Storage', words: synonyms['storage'] ?? '' },
  ]
  const first = (typed: string) => findItems(all, typed)[0]?.items[0]?.item.id
  expect(['stop', 'theme', 'dark', 'worktree'].map(first)).toEqual([
    'Stop agent',
    'appearance',
    'appearance',
    'storage',
  ])
})
