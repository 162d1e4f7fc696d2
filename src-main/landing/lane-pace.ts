/** Remembers how long a lane's landings took, and says when the waiting tasks will probably have landed. */
export interface LanePace<T> {
  /** Notes who is first in the lane now; another one's turn begins. */
  noteFirst(first: T | null): void
  /** Notes that the turn of the first ended on the base. */
  noteLanded(): void
  /**
   * Returns the time in ms when the task at `index` will probably have landed, if `together` tasks
   * land at a time; null while no landing of the lane is known.
   */
  landsAt(index: number, together: number): number | null
}

/** How many landings are remembered. */
const maxTurns = 9

export function createLanePace<T>(now: () => number): LanePace<T> {
  const durations: number[] = []
  let first: T | null = null
  let began = 0
  return {
    noteFirst: (next) => {
      if (next === first) return
      first = next
      began = now()
    },
    noteLanded: () => {
      durations.push(now() - began)
      if (durations.length > maxTurns) durations.shift()
    },
    landsAt: (index, together) => {
      const usual = median(durations)
      return usual === null ? null : began + usual * Math.ceil((index + 1) / together)
    },
  }
}

function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.floor(sorted.length / 2)] ?? null
}
