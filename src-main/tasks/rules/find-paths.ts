/**
 * Returns the paths that match typed text, best first: by the beginning of the file's name, then by any part of it,
 * then by any part of the path, then by its letters in order. Among equals the shorter comes first.
 */
export function findPaths(paths: readonly string[], query: string, limit: number): string[] {
  const wanted = query.toLowerCase()
  const ranks: string[][] = [[], [], [], []]
  for (const path of paths) {
    const rank = rankOf(path.toLowerCase(), wanted)
    if (rank !== null) ranks[rank]?.push(path)
  }
  const found: string[] = []
  for (const rank of ranks) {
    if (found.length >= limit) break
    rank.sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
    found.push(...rank.slice(0, limit - found.length))
  }
  return found
}

function rankOf(path: string, wanted: string): number | null {
  const at = path.lastIndexOf(wanted)
  const name = path.lastIndexOf('/') + 1
  if (path.startsWith(wanted, name)) return 0
  if (at >= name) return 1
  if (at !== -1) return 2
  return hasInOrder(path, wanted) ? 3 : null
}

function hasInOrder(path: string, letters: string): boolean {
  let from = 0
  for (const letter of letters) {
    const at = path.indexOf(letter, from)
    if (at === -1) return false
    from = at + letter.length
  }
  return true
}
