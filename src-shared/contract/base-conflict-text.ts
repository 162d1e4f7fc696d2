import { escapeHidden } from '../lang/hidden-characters.ts'

/** Says where a merge conflicts, as cards, the panel and notifications do: `Conflicts with main in cart.ts and 2 more`. */
export function baseConflictText(base: string, files: readonly string[]): string {
  const [first] = files
  if (first === undefined) return `Conflicts with ${base}`
  const name = escapeHidden(first.slice(first.lastIndexOf('/') + 1))
  return `Conflicts with ${base} in ${name}${files.length > 1 ? ` and ${files.length - 1} more` : ''}`
}
