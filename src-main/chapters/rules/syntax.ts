import type { LineSpan } from './hunk.ts'

/** A changed file with its contents, for the syntax of its hunks. */
export interface SyntaxRequest {
  readonly path: string
  /** null on a side without the file, and for a side that nothing is asked of. */
  readonly old_text: string | null
  readonly new_text: string | null
  readonly hunks: readonly SyntaxHunk[]
  /** Whether `old_text` says how the file was. */
  readonly has_old: boolean
}

export interface SyntaxHunk {
  readonly id: string
  readonly old: LineSpan
  readonly new: LineSpan
  readonly removed: readonly string[]
  readonly added: readonly string[]
}

/** Replacement of one identifier by another. */
export interface IdentifierChange {
  readonly from: string
  readonly to: string
}

/** A hunk as a grammar sees it. */
export interface HunkSyntax {
  readonly id: string
  /** Whether the base's side was read; without it `old_symbol` and `old_names` say nothing. */
  readonly has_old: boolean
  /** Innermost definition that the removed lines are a part of, such as `Store.get`; null at the top level. */
  readonly old_symbol: string | null
  /** The same of the added lines. */
  readonly new_symbol: string | null
  /** Names that the added lines define outside of functions. */
  readonly defines: readonly string[]
  /** All names that the removed and the added lines define, local ones too. */
  readonly old_names: readonly string[]
  readonly new_names: readonly string[]
  /** Identifiers in the added lines. */
  readonly uses: readonly string[]
  /** The hunk leaves syntax tree and tokens as they are. */
  readonly is_formatting: boolean
  /** Set if the hunk replaces one identifier and does nothing else. */
  readonly rename: IdentifierChange | null
}
