import type { ChangeFacts } from './facts.ts'
import type { HunkSyntax, IdentifierChange } from './syntax.ts'

/** Each name is looked for in the whole base. */
const maxNames = 50

/** Returns the names that identifiers are replaced by, most frequent first: what the base must not have. */
export function renameCandidates(syntax: Iterable<HunkSyntax>): readonly string[] {
  const count = new Map<string, number>()
  for (const { rename } of syntax) if (rename) count.set(rename.to, (count.get(rename.to) ?? 0) + 1)
  const names = [...count].toSorted(([, one], [, other]) => other - one).map(([name]) => name)
  return names.slice(0, maxNames)
}

/**
 * Returns the hunks that do nothing but give a thing another name: the name is new to the base and stands for one thing
 * only, and the change renames that thing's definition.
 */
export function findRenames({ syntax, known_names }: Pick<ChangeFacts, 'syntax' | 'known_names'>): ReadonlySet<string> {
  const all = [...syntax.values()]
  const candidates = new Set(renameCandidates(all))
  const sources = new Map<string, Set<string>>()
  for (const { rename } of all) if (rename) add(sources, rename.to, rename.from)
  // Who defines the new name without having defined the old one adds another thing.
  const redefined = new Set<string>()
  const added = new Set<string>()
  for (const { old_names, new_names } of all) {
    for (const name of new_names) {
      if (!candidates.has(name)) continue
      const from = [...(sources.get(name) ?? [])][0]
      if (from !== undefined && old_names.includes(from) && !new_names.includes(from)) redefined.add(name)
      else if (!old_names.includes(name)) added.add(name)
    }
  }
  const isProven = ({ to }: IdentifierChange): boolean =>
    candidates.has(to) && !known_names.has(to) && sources.get(to)?.size === 1 && redefined.has(to) && !added.has(to)
  return new Set(all.filter(({ rename }) => rename !== null && isProven(rename)).map(({ id }) => id))
}

function add(sets: Map<string, Set<string>>, key: string, value: string): void {
  const known = sets.get(key)
  if (known) known.add(value)
  else sets.set(key, new Set([value]))
}
