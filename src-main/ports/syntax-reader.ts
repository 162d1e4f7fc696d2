import type { HunkSyntax, SyntaxRequest } from '../chapters/rules/syntax.ts'
import type { Cancellable } from './cancellable.ts'

/** Reads what changed files define and use, apart from the process's own work. */
export interface SyntaxReader {
  /**
   * Returns the hunks of each file as its grammar sees them, by path. Leaves out files without a grammar, over 1 MB,
   * or for which 200 ms were not enough.
   */
  read(files: readonly SyntaxRequest[], options: Cancellable): Promise<ReadonlyMap<string, readonly HunkSyntax[]>>
  /** Returns whether files of this name have a grammar. */
  hasGrammar(path: string): boolean
  close(): Promise<void>
}
