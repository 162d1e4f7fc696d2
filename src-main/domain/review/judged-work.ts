import type { Refusal } from '../../../src-shared/contract/errors.ts'

/** The commit that work is based on, and git's tree of all of it, committed or not. */
export interface JudgedWork {
  readonly head: string | null
  readonly tree: string | null
}

export interface WorkFacts {
  /** The work that the review judged; null when there is nothing to compare with. */
  readonly judged: JudgedWork | null
  /** The work as it is now; null when there is none. */
  readonly work: { readonly head: string; readonly tree: string } | null
  /** The tree that the caller looked at. */
  readonly seen: string | null
  readonly by_person: boolean
  /** The files that differ between the current work and the seen work, or else the judged work. */
  readonly files: readonly string[]
}

/** Refuses if the work differs from what the caller looked at. */
export function checkSeen({ work, seen, files }: Pick<WorkFacts, 'work' | 'seen' | 'files'>): Refusal | null {
  return seen === null || seen === work?.tree ? null : workChanged(work?.tree ?? null, files)
}

/** Refuses if the work differs from what was judged, unless a person has seen its current state (invariant I4). */
export function checkJudged({ judged, work, seen, by_person, files }: WorkFacts): Refusal | null {
  if (!judged || !work) return null
  const { tree } = work
  // Reviews from before trees were stored have only the judged commit.
  const isSame = judged.tree === null ? judged.head === null || judged.head === work.head : judged.tree === tree
  if (isSame || (by_person && seen !== null && seen === tree)) return null
  return {
    code: 'review_not_ready',
    message: `${named(files, 'The work')} changed since the review. Read the new diff and decide on it, or request changes.`,
    details: { tree, files },
  }
}

function workChanged(tree: string | null, files: readonly string[]): Refusal {
  return {
    code: 'work_changed',
    message: `${named(files, 'The work')} changed since you read it. Read the new diff, then decide again.`,
    details: { tree, files },
  }
}

const maxNamed = 20

function named(files: readonly string[], otherwise: string): string {
  if (files.length === 0) return otherwise
  const more = files.length > maxNamed ? ` and ${files.length - maxNamed} more files` : ''
  return `${files.slice(0, maxNamed).join(', ')}${more}`
}
