import type { Cancellable } from '../ports/cancellable.ts'
import type { SyntaxReader } from '../ports/syntax-reader.ts'
import { buildChapters, type ChaptersByRules } from './rules/build-chapters.ts'
import type { ChangedSource } from './rules/facts.ts'
import { renameCandidates } from './rules/find-renames.ts'

interface Surroundings extends Cancellable {
  readonly syntax: SyntaxReader
  /** Returns which of these words the base has. */
  readonly wordsInBase: (words: readonly string[]) => Promise<ReadonlySet<string>>
  readonly hasSecret: (line: string) => boolean
}

/** Divides a change into chapters by the rules, with what grammars and the base tell of it. */
export async function tellByRules(
  files: readonly ChangedSource[],
  { syntax, wordsInBase, hasSecret, signal }: Surroundings,
): Promise<ChaptersByRules> {
  const requests = files
    // Only a side that is missing has no text; a side that is too large can't be compared.
    .filter(
      (file) =>
        (file.old_mode === null || file.old_text !== null) && (file.new_mode === null || file.new_text !== null),
    )
    .map(({ path, old_text, new_text, hunks }) => ({
      path,
      old_text,
      new_text,
      hunks: hunks.filter(({ cause }) => cause === 'lines'),
    }))
    .filter(({ hunks }) => hunks.length > 0)
  const read = await syntax.read(requests, { signal })
  const known = new Map([...read.values()].flat().map((hunk) => [hunk.id, hunk]))
  const names = renameCandidates(known.values())
  return buildChapters({
    files,
    syntax: known,
    known_names: names.length === 0 ? new Set() : await wordsInBase(names),
    hasGrammar: syntax.hasGrammar,
    hasSecret,
  })
}
