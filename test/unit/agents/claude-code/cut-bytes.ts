/** Cuts bytes at the given places (those beyond the end, and twice the same, do nothing). */
export function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const cuts = [0, ...[...places].filter((place) => place < bytes.length).sort((a, b) => a - b), bytes.length]
  return cuts.slice(1).map((end, index) => bytes.subarray(cuts[index], end))
}
