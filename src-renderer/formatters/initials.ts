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
