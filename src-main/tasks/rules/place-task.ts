/** Smallest usable gap between two positions; less could be lost in rounding. */
const leastGap = 1e-9

/**
 * Returns positions that put a task next to another. `ahead` are the positions from that one on in that direction,
 * nearest first; `up` means towards higher positions. The first result is the task's position, the others are new
 * positions of as many of `ahead` as must make room.
 */
export function placeBeside(beside: number, ahead: readonly number[], up: boolean): readonly number[] {
  const sign = up ? 1 : -1
  const distances = ahead.map((position) => (position - beside) * sign)
  for (const [moved, distance] of distances.entries()) {
    const step = distance / (moved + 2)
    if (step < leastGap * Math.max(1, Math.abs(beside))) continue
    return Array.from({ length: moved + 1 }, (_, index) => beside + sign * step * (index + 1))
  }
  return Array.from({ length: ahead.length + 1 }, (_, index) => beside + sign * (index + 1))
}
