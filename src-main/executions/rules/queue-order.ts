import type { QueueMove } from '../../../src-shared/contract/queue.ts'

/** A queue entry with the rank that a person gave it, or null to sort it by age. */
export interface RankedEntry<Id> {
  readonly id: Id
  readonly queue_rank: number | null
}

/**
 * Moves an entry of a queue, which is given in its order. Returns the new rank of each changed entry. All up to the
 * last one that was ever moved have a rank, so that new entries, which have none, come after them.
 */
export function moveInQueue<Id>(queue: readonly RankedEntry<Id>[], id: Id, to: QueueMove): ReadonlyMap<Id, number> {
  const from = queue.findIndex((entry) => entry.id === id)
  const moved = queue[from]
  if (!moved) return new Map()
  const places = { first: 0, up: Math.max(0, from - 1), down: Math.min(queue.length - 1, from + 1) }
  const at = to === 'last' ? queue.length - 1 : places[to]
  if (at === from) return new Map()
  const order = queue.toSpliced(from, 1).toSpliced(at, 0, moved)
  const lastRanked = order.findLastIndex(({ queue_rank }) => queue_rank !== null)
  const ranked = order.slice(0, Math.max(from, at, lastRanked) + 1)
  return new Map(
    ranked.flatMap((entry, index) => (entry.queue_rank === index + 1 ? [] : [[entry.id, index + 1] as const])),
  )
}
