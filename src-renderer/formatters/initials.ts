/** Words that many agents have in their names. */
const genericWords: ReadonlySet<string> = new Set(['agent', 'cli', 'code'])

/**
 * Returns two letters for a name: `Claude Code` → `Cl` and `Codex` → `Cd` for an agent, `Mara
 * Lindqvist` → `ML` for a person. For a one-word agent the second letter is a consonant, so similar
 * names differ.
 */
export function initials(name: string, kind: 'agent' | 'person'): string {
  const words = name.split(/[\s\-_.]+/).filter((word) => word !== '')
  const [first = '?'] = words
  const last = words.at(-1) ?? ''
  if (kind === 'person') return (words.length > 1 ? letter(first) + letter(last) : start(first)).toUpperCase()
  const isOne = words.length < 2 || genericWords.has(last.toLowerCase())
  const letters = isOne
    ? letter(first) + ([...first].slice(1).find(isConsonant) ?? start(first).slice(letter(first).length))
    : letter(first) + letter(last)
  return letters.charAt(0).toUpperCase() + letters.slice(1).toLowerCase()
}

const letter = (word: string): string => [...word].slice(0, 1).join('')
const start = (word: string): string => [...word].slice(0, 2).join('')
const isConsonant = (sign: string): boolean => /[^aeiou\d\W]/i.test(sign)

/** Someone or something that is shown by its letters. */
interface Named {
  readonly id: string
  readonly name: string
}

/** Returns letters by the ID of each project: `D`, and `De` for a later one whose `D` is taken. */
export function projectLetters(projects: readonly Named[]): ReadonlyMap<string, string> {
  return distinctLetters(projects, (name) => {
    const [first = '?', ...rest] = name
    return [first.toUpperCase(), ...pairs(first, rest)]
  })
}

/** Returns letters by the ID of each agent: its initials, and others of its name if they are taken. */
export function agentLetters(agents: readonly Named[]): ReadonlyMap<string, string> {
  return distinctLetters(agents, (name) => {
    const [first = '?', ...rest] = name
    return [initials(name, 'agent'), ...pairs(first, rest)]
  })
}

const pairs = (first: string, rest: readonly string[]): string[] =>
  rest.filter((sign) => /[\p{L}\p{N}]/u.test(sign)).map((sign) => first.toUpperCase() + sign.toLowerCase())

/**
 * Gives each item the first of its choices that no older item has, else its first letter and a
 * number. IDs sort by age, so a new item changes no other's letters.
 */
function distinctLetters(
  items: readonly Named[],
  choices: (name: string) => readonly string[],
): ReadonlyMap<string, string> {
  const taken = new Set<string>()
  const given = new Map<string, string>()
  for (const { id, name } of items.toSorted((one, other) => (one.id < other.id ? -1 : 1))) {
    const own = choices(name)
    let letters = own.find((choice) => !taken.has(choice.toLowerCase()))
    for (let number = 2; letters === undefined; number++) {
      const numbered = `${letter(own[0] ?? '?')}${number}`
      if (!taken.has(numbered.toLowerCase())) letters = numbered
    }
    taken.add(letters.toLowerCase())
    given.set(id, letters)
  }
  return given
}
