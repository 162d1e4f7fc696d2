/** Cuts bytes at the given offsets; offsets beyond the end and repeated ones are ignored. */
export function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const cuts = [0, ...[...places].filter((place) => place < bytes.length).sort((a, b) => a - b), bytes.length]
  return cuts.slice(1).map((end, index) => bytes.subarray(cuts[index], end))
}
