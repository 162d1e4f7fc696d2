import type { ConflictHunk } from '../../../src-shared/contract/conflicts.ts'

export interface HunkBudget {
  readonly hunks: number
  /** Characters of one hunk, and of all together. */
  readonly each: number
  readonly all: number
}

/** As many conflicting places as fit, in their order; of those, as much text as fits. What was cut says so. */
export function fitHunks(hunks: readonly ConflictHunk[], budget: HunkBudget): ConflictHunk[] {
  let left = budget.all
  return hunks.slice(0, budget.hunks).map((hunk) => {
    if (hunk.text === null) return hunk
    const text = whole(hunk.text.slice(0, Math.min(budget.each, left)))
    left -= text.length
    return { ...hunk, text: text === '' ? null : text, truncated: hunk.truncated || text.length < hunk.text.length }
  })
}

/** Never half of a character that takes two. */
function whole(text: string): string {
  return text.replace(/[\uD800-\uDBFF]$/, '')
}
