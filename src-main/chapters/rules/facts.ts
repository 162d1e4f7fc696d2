import type { FileHunks, Hunk } from './hunk.ts'
import type { NeededPath } from './needed-paths.ts'
import type { HunkSyntax } from './syntax.ts'

/** A changed file with what the rules need of it. */
export interface ChangedSource extends FileHunks {
  /** Content in the base and in the work; null on a side without the file, and of a file that is not read. */
  readonly old_text: string | null
  readonly new_text: string | null
  /** Attributes of the base call the file generated. */
  readonly is_generated: boolean
}

/** All that the rules know of a change. */
export interface ChangeFacts {
  readonly files: readonly ChangedSource[]
  /** By hunk id; without the hunks of files that no grammar could read. */
  readonly syntax: ReadonlyMap<string, HunkSyntax>
  /** Names of `renameCandidates` that the base already has. */
  readonly known_names: ReadonlySet<string>
  /** Returns whether files of this name have a grammar. */
  readonly hasGrammar: (path: string) => boolean
  /** Returns whether a line contains what looks like a secret. */
  readonly hasSecret: (line: string) => boolean
  /** What the lines of a file need and git ignores, by the file's path. */
  readonly ignored: ReadonlyMap<string, readonly IgnoredNeed[]>
  /** Patterns of the project, see `matchesPath`. */
  readonly risky_paths: readonly string[]
}

/** A file that an added line needs, of which the worktree has only what git ignores: the file, or a folder around it. */
interface IgnoredNeed extends Omit<NeededPath, 'candidates'> {
  readonly place: 'file' | 'folder'
}

/** A place in the base or in the work. */
export interface LinePlace {
  readonly path: string
  readonly line: number
}

/** Returns how many changed lines a hunk has, at least 1. */
export function sizeOf({ removed, added }: Hunk): number {
  return Math.max(1, removed.length + added.length)
}
