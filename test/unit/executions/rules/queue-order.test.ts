import { expect, test } from 'vitest'
import { moveInQueue, type RankedEntry } from '../../../../src-main/executions/rules/queue-order.ts'
import type { QueueMove } from '../../../../src-shared/contract/queue.ts'

type Entry = RankedEntry<string>

/** The queue as the store returns it: ranked items by rank, then the others by age. */
const sorted = (entries: readonly Entry[]): readonly Entry[] => [
  ...entries
    .filter(({ queue_rank }) => queue_rank !== null)
    .toSorted((a, b) => (a.queue_rank ?? 0) - (b.queue_rank ?? 0)),
  ...entries.filter(({ queue_rank }) => queue_rank === null),
]
const queue = (ids: string): readonly Entry[] => [...ids].map((id) => ({ id, queue_rank: null }))
const text = (entries: readonly Entry[]) => entries.map(({ id }) => id).join('')
function move(entries: readonly Entry[], id: string, to: QueueMove): readonly Entry[] {
  const ranks = moveInQueue(entries, id, to)
  return sorted(entries.map((entry) => ({ ...entry, queue_rank: ranks.get(entry.id) ?? entry.queue_rank })))
}

test.each([
  ['c', 'first', 'cabd'],
  ['c', 'up', 'acbd'],
  ['a', 'down', 'bacd'],
  ['a', 'last', 'bcda'],
  ['a', 'first', 'abcd'],
  ['a', 'up', 'abcd'],
  ['d', 'down', 'abcd'],
] as const)('moves %s %s to get %s from abcd', (id, to, expected) => {
  expect(text(move(queue('abcd'), id, to))).toBe(expected)
})

test('applies moves in turn, and queues later items behind all moved ones', () => {
  const moved = move(move(queue('abc'), 'c', 'first'), 'b', 'up')
  expect(text(moved)).toBe('cba')
  const later = sorted([...moved, { id: 'd', queue_rank: null }])
  expect(text(later)).toBe('cbad')
  expect(text(move(later, 'd', 'up'))).toBe('cbda')
  expect(text(move(later, 'c', 'last'))).toBe('badc')
})

test('changes nothing for an item that is missing or already there', () => {
  expect(moveInQueue(queue('ab'), 'x', 'first').size).toBe(0)
  expect(moveInQueue(queue('ab'), 'b', 'last').size).toBe(0)
  // Only the items before a moved one are written.
  expect([...moveInQueue(queue('abcd'), 'b', 'first').keys()].toSorted()).toEqual(['a', 'b'])
})
