/** Two letters that stand for a name: `Claude Code` → `Cc` for an agent, `Mara Lindqvist` → `ML` for a person. */
export function initials(name: string, kind: 'agent' | 'person'): string {
  const words = name.split(/[\s\-_.]+/).filter((word) => word !== '')
  const first = words[0] ?? '?'
  const second = words.length > 1 ? (words.at(-1) ?? '') : ''
  const letters = [...first].slice(0, second ? 1 : 2).join('') + [...second].slice(0, 1).join('')
  if (kind === 'person') return letters.toUpperCase()
  return letters.charAt(0).toUpperCase() + letters.slice(1).toLowerCase()
}
