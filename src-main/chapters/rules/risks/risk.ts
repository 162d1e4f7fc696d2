import type { riskKinds } from '../../../../src-shared/contract/chapters.ts'
import type { ChangedSource, ChangeFacts } from '../facts.ts'
import type { Hunk } from '../hunk.ts'

export type RiskKind = (typeof riskKinds)[number]

/** What a reader must not overlook in a file. */
export interface FoundRisk {
  readonly level: 'high' | 'low'
  /** A sentence for people. */
  readonly text: string
  /** Line in the work, or in the base if the hunk only removes; null for the file as a whole. */
  readonly line: number | null
  readonly hunk: Hunk
}

/** Finds risks of one kind in one changed file. */
export type RiskRule = (file: ChangedSource, facts: ChangeFacts) => readonly FoundRisk[]

/** An added line and its number in the work. */
export interface AddedLine {
  readonly text: string
  readonly line: number
  readonly hunk: Hunk
}

export function addedLines({ hunks }: ChangedSource): readonly AddedLine[] {
  return hunks.flatMap((hunk) => hunk.added.map((text, at) => ({ text, line: hunk.new[0] + at, hunk })))
}

/** Returns the removed lines with their numbers in the base. */
export function removedLines({ hunks }: ChangedSource): readonly AddedLine[] {
  return hunks.flatMap((hunk) => hunk.removed.map((text, at) => ({ text, line: hunk.old[0] + at, hunk })))
}

/** Returns a risk of the whole file, at its first hunk. */
export function riskOfFile({ hunks }: ChangedSource, level: FoundRisk['level'], text: string): readonly FoundRisk[] {
  return hunks.slice(0, 1).map((hunk) => ({ level, text, line: null, hunk }))
}

/** Returns a risk for each hunk of the file, because none of them may be folded. */
export function riskOfHunks({ hunks }: ChangedSource, level: FoundRisk['level'], text: string): readonly FoundRisk[] {
  return hunks.map((hunk) => ({ level, text, line: hunk.new[1] > 0 ? hunk.new[0] : null, hunk }))
}
