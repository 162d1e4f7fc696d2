/**
 * Returns whether a pattern names a file or a folder around it, as in `.gitignore`: `*` and `?` within a name, `**` over
 * folders, and without a slash at any depth. Takes time in proportion to both lengths, because owners write patterns
 * and branches write paths.
 */
export function matchesPath(pattern: string, path: string): boolean {
  const parts = pattern.replace(/^\/|\/$/g, '').split('/')
  const isAnywhere = parts.length === 1 && !pattern.startsWith('/')
  const wanted = isAnywhere ? ['**', ...parts] : parts
  return matchesStart(wanted, path.split('/'), {
    isStar: (part) => part === '**',
    fits: (part, name) => matchesStart([...part], [...name], characters),
    // What follows lies in a folder that the pattern names.
    isOpen: true,
  })
}

interface Matching {
  readonly isStar: (wanted: string) => boolean
  readonly fits: (wanted: string, given: string) => boolean
  /** More may follow after the end of the pattern. */
  readonly isOpen: boolean
}

const characters: Matching = {
  isStar: (part) => part === '*',
  fits: (part, character) => part === '?' || part === character,
  isOpen: false,
}

/** Matches with stars that stand for any number of elements; only the last star is ever tried again. */
function matchesStart(
  wanted: readonly string[],
  given: readonly string[],
  { isStar, fits, isOpen }: Matching,
): boolean {
  let [at, star, from] = [0, -1, 0]
  for (let next = 0; next < given.length;) {
    const part = wanted[at]
    if (part === undefined && isOpen) return true
    if (part !== undefined && isStar(part)) {
      star = at
      from = next
      at += 1
    } else if (part !== undefined && fits(part, given[next] ?? '')) {
      at += 1
      next += 1
    } else if (star >= 0) {
      at = star + 1
      from += 1
      next = from
    } else return false
  }
  // `folder/**` is about what lies in the folder, of which there is nothing here.
  return wanted.slice(at).every((part) => !isOpen && isStar(part))
}
