import type { HunkSyntax } from './syntax.ts'

/** Changed hunks of one file, as a unit that is kept together. */
export interface FileGroup {
  readonly path: string
  readonly hunks: readonly { readonly id: string }[]
}

/** Which changed files use what others define. */
export interface Relations {
  /** Files that a file depends on. */
  readonly needs: ReadonlyMap<string, ReadonlySet<string>>
  /** Names that each file's hunks define. */
  readonly defines: ReadonlyMap<string, readonly string[]>
}

const minNameLength = 3
/** A name that more files define says nothing of which one is meant. */
const maxDefiners = 2

/** Finds which files use names that the hunks of other files define. */
export function relateFiles(files: readonly FileGroup[], syntax: ReadonlyMap<string, HunkSyntax>): Relations {
  const defines = new Map<string, readonly string[]>()
  const definers = new Map<string, string[]>()
  for (const { path, hunks } of files) {
    const names = new Set(hunks.flatMap(({ id }) => syntax.get(id)?.defines ?? []))
    defines.set(path, [...names])
    for (const name of names) {
      if (name.length < minNameLength) continue
      const known = definers.get(name)
      if (known) known.push(path)
      else definers.set(name, [path])
    }
  }
  const needs = new Map<string, Set<string>>()
  for (const { path, hunks } of files) {
    const needed = new Set<string>()
    for (const name of new Set(hunks.flatMap(({ id }) => syntax.get(id)?.uses ?? []))) {
      const from = definers.get(name) ?? []
      if (from.length > 0 && from.length <= maxDefiners) for (const other of from) if (other !== path) needed.add(other)
    }
    needs.set(path, needed)
  }
  return { needs, defines }
}

/** Divides files into sets that nothing connects, each in the order of the files. */
export function connectedFiles(paths: readonly string[], { needs }: Relations): readonly (readonly string[])[] {
  const known = new Set(paths)
  const neighbours = new Map<string, string[]>(paths.map((path) => [path, []]))
  for (const path of paths) {
    for (const other of needs.get(path) ?? []) {
      if (!known.has(other)) continue
      neighbours.get(path)?.push(other)
      neighbours.get(other)?.push(path)
    }
  }
  const setOf = new Map<string, string[]>()
  const sets: string[][] = []
  for (const path of paths) {
    if (setOf.has(path)) continue
    const set: string[] = []
    sets.push(set)
    const waiting = [path]
    setOf.set(path, set)
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      for (const other of neighbours.get(next) ?? []) {
        if (setOf.has(other)) continue
        setOf.set(other, set)
        waiting.push(other)
      }
    }
  }
  for (const path of paths) setOf.get(path)?.push(path)
  return sets
}

/**
 * Orders files so that each comes after those that it needs; of several that could be next, the one with the smaller
 * rank. In a circle the one that most others wait for comes first.
 */
export function orderByNeed(
  paths: readonly string[],
  { needs }: Relations,
  rankOf: (path: string) => number,
): readonly string[] {
  const left = new Set(paths)
  const users = new Map<string, string[]>()
  const open = new Map<string, number>()
  for (const path of paths) {
    const needed = [...(needs.get(path) ?? [])].filter((other) => left.has(other))
    open.set(path, needed.length)
    for (const other of needed) users.set(other, [...(users.get(other) ?? []), path])
  }
  const usersOf = (path: string): readonly string[] => users.get(path) ?? []
  const before = (one: string, other: string): number =>
    rankOf(one) - rankOf(other) || usersOf(other).length - usersOf(one).length || (one < other ? -1 : 1)
  const ordered: string[] = []
  let ready = paths.filter((path) => open.get(path) === 0)
  while (left.size > 0) {
    const isCircle = ready.length === 0
    const choices = isCircle ? [...left] : ready
    const next = choices.reduce((best, one) => {
      if (isCircle && usersOf(one).length !== usersOf(best).length)
        return usersOf(one).length > usersOf(best).length ? one : best
      return before(one, best) < 0 ? one : best
    })
    left.delete(next)
    ordered.push(next)
    for (const user of usersOf(next)) open.set(user, (open.get(user) ?? 0) - 1)
    const freed = usersOf(next).filter((user) => left.has(user) && open.get(user) === 0)
    ready = [...ready.filter((path) => path !== next), ...freed]
  }
  return ordered
}
