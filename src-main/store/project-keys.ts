const longest = 5
const alphabet = Array.from({ length: 26 }, (_, index) => String.fromCharCode(65 + index))

/**
 * Returns the first free key for a project: the initials of several words, else the first three letters; if those are
 * taken, a longer start or another ending.
 */
export function deriveKey(name: string, isTaken: (key: string) => boolean): string {
  for (const key of candidates(name)) if (!isTaken(key)) return key
  throw new Error('Every project key is taken.')
}

/** Returns keys for projects that have none yet, by ID. `projects` is JSON, `[[id, name], …]`, in order of choice. */
export function deriveKeys(projects: string): string {
  const taken = new Set<string>()
  const keys = (JSON.parse(projects) as readonly [string, string][]).map(([id, name]) => {
    const key = deriveKey(name, (one) => taken.has(one))
    taken.add(key)
    return [id, key] as const
  })
  return JSON.stringify(Object.fromEntries(keys))
}

function* candidates(name: string): Generator<string> {
  const words =
    name
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .toUpperCase()
      .match(/[A-Z]+/g) ?? []
  const initials = words.map((word) => word.charAt(0)).join('')
  const letters = words.join('')
  const stem = letters.length < 2 ? 'PRJ' : letters
  if (initials.length >= 2 && initials.length <= longest) yield initials
  yield stem.slice(0, 3)
  for (let length = 4; length <= Math.min(stem.length, longest); length++) yield stem.slice(0, length)
  for (const ending of endings(3)) yield stem.slice(0, 2) + ending
  for (const start of endings(2)) for (const ending of endings(3)) if (start.length === 2) yield start + ending
}

/** Yields `A` to `Z`, then `AA` to `ZZ`, and so on up to `length` letters. */
function* endings(length: number): Generator<string> {
  let shorter = ['']
  for (let size = 1; size <= length; size++) {
    shorter = shorter.flatMap((start) => alphabet.map((letter) => start + letter))
    yield* shorter
  }
}
