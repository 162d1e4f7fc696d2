import type { Cancellable } from '../ports/cancellable.ts'
import type { SyntaxReader } from '../ports/syntax-reader.ts'
import { buildChapters, type ChaptersByRules } from './rules/build-chapters.ts'
import type { ChangedSource, ChangeFacts } from './rules/facts.ts'
import { renameCandidates } from './rules/find-renames.ts'
import { syntaxRequests } from './rules/syntax-requests.ts'
import { neededPaths, type IgnoredPlace } from './rules/needed-paths.ts'

interface Surroundings extends Cancellable {
  readonly syntax: SyntaxReader
  /** Returns which of these words the base has. */
  readonly wordsInBase: (words: readonly string[]) => Promise<ReadonlySet<string>>
  /** Returns of each list of possible paths whether the worktree has only what git ignores. */
  readonly onlyIgnored: (paths: readonly (readonly string[])[]) => Promise<readonly IgnoredPlace[]>
  readonly hasSecret: (line: string) => boolean
  readonly risky_paths: readonly string[]
}

/** Divides a change into chapters by the rules, with what grammars and the base tell of it. */
export async function tellByRules(
  files: readonly ChangedSource[],
  { syntax, wordsInBase, onlyIgnored, hasSecret, risky_paths, signal }: Surroundings,
): Promise<ChaptersByRules> {
  const read = await syntax.read(syntaxRequests(files), { signal })
  const known = new Map([...read.values()].flat().map((hunk) => [hunk.id, hunk]))
  const names = renameCandidates(known.values())
  return buildChapters({
    files,
    syntax: known,
    known_names: names.length === 0 ? new Set() : await wordsInBase(names),
    hasGrammar: syntax.hasGrammar,
    hasSecret,
    ignored: await findIgnored(files, onlyIgnored),
    risky_paths,
  })
}

async function findIgnored(
  files: readonly ChangedSource[],
  onlyIgnored: Surroundings['onlyIgnored'],
): Promise<ChangeFacts['ignored']> {
  const needed = neededPaths(files)
  if (needed.length === 0) return new Map()
  const places = await onlyIgnored(needed.map(({ candidates }) => candidates))
  const found = needed.flatMap(({ candidates: _, ...one }, at) => {
    const place = places[at] ?? null
    return place === null ? [] : [{ ...one, place }]
  })
  return Map.groupBy(found, ({ hunk }) => hunk.path)
}
