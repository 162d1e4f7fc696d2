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
  /** Files that depend on a file. */
  readonly needed_by: ReadonlyMap<string, ReadonlySet<string>>
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
  const needed_by = new Map<string, Set<string>>()
  for (const [path, needed] of needs) {
    for (const other of needed) {
      const known = needed_by.get(other)
      if (known) known.add(path)
      else needed_by.set(other, new Set([path]))
    }
  }
  return { needs, needed_by, defines }
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
  const known = new Set(paths)
  const users = new Map<string, string[]>(paths.map((path) => [path, []]))
  const open = new Map<string, number>()
  for (const path of paths) {
    const needed = [...(needs.get(path) ?? [])].filter((other) => known.has(other))
    open.set(path, needed.length)
    for (const other of needed) users.get(other)?.push(path)
  }
  const ranks = new Map(paths.map((path) => [path, rankOf(path)]))
  const usersOf = (path: string): readonly string[] => users.get(path) ?? []
  const byUsers = (one: string, other: string): number => usersOf(other).length - usersOf(one).length
  const byRank = (one: string, other: string): number => (ranks.get(one) ?? 0) - (ranks.get(other) ?? 0)
  const byName = (one: string, other: string): number => (one < other ? -1 : 1)
  const inOrder = paths.toSorted((one, other) => byRank(one, other) || byUsers(one, other) || byName(one, other))
  const inCircle = paths.toSorted((one, other) => byUsers(one, other) || byRank(one, other) || byName(one, other))
  const placeOf = new Map(inOrder.map((path, at) => [path, at]))
  const ready = createSortedNumbers()
  const addReady = (path: string): void => ready.add(placeOf.get(path) ?? 0)
  for (const path of paths) if (open.get(path) === 0) addReady(path)
  const ordered = new Set<string>()
  let circle = 0
  while (ordered.size < paths.length) {
    const at = ready.takeFirst()
    while (at === null && ordered.has(inCircle[circle] ?? '')) circle += 1
    const next = at === null ? inCircle[circle] : inOrder[at]
    if (next === undefined) break
    ordered.add(next)
    for (const user of usersOf(next)) {
      open.set(user, (open.get(user) ?? 0) - 1)
      if (open.get(user) === 0 && !ordered.has(user)) addReady(user)
    }
  }
  return [...ordered]
}

/** Numbers of which the smallest is taken, again and again: thousands of files can be ready at the same time. */
function createSortedNumbers() {
  // Descending, so that the smallest is at the end.
  const numbers: number[] = []
  return {
    add: (number: number): void => {
      let [low, high] = [0, numbers.length]
      while (low < high) {
        const middle = (low + high) >> 1
        if ((numbers[middle] ?? 0) > number) low = middle + 1
        else high = middle
      }
      numbers.splice(low, 0, number)
    },
    takeFirst: (): number | null => numbers.pop() ?? null,
  }
}
