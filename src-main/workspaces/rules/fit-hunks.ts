import type { ConflictHunk } from '../../../src-shared/contract/conflicts.ts'

export interface HunkBudget {
  readonly hunks: number
  /** The limits in characters: of one hunk, and of all together. */
  readonly each: number
  readonly all: number
}

/** Returns as many hunks as fit, in order, with as much of their text as fits. A cut hunk is marked as cut. */
export function fitHunks(hunks: readonly ConflictHunk[], budget: HunkBudget): ConflictHunk[] {
  let left = budget.all
  return hunks.slice(0, budget.hunks).map((hunk) => {
    if (hunk.text === null) return hunk
    const text = whole(hunk.text.slice(0, Math.min(budget.each, left)))
    left -= text.length
    return { ...hunk, text: text === '' ? null : text, truncated: hunk.truncated || text.length < hunk.text.length }
  })
}

/** Removes half of a surrogate pair at the end. */
function whole(text: string): string {
  return text.replace(/[\uD800-\uDBFF]$/, '')
}
