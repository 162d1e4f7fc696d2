import type { ProposedChapter } from '../../src-shared/contract/chapters.ts'
import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { Ground } from '../core/ground.ts'
import { redactorOf } from '../core/redactor-of.ts'
import { notFound } from '../domain/refusal.ts'
import type { ChapterProposal } from '../ports/chapter-queries.ts'
import { applyProposal } from './rules/apply-proposal.ts'
import { checkPartition, type PartitionFaults } from './rules/check-partition.ts'
import type { KeptChapters } from './views.ts'

/** Chapters that a caller proposes for the tree that it has read. */
export interface Proposal {
  readonly tree: string
  readonly chapters: readonly ProposedChapter[]
  /** The caller, as the timeline names callers. */
  readonly by: string
}

/** Ids that a refusal names of each fault; an agent that has more of them had better read the hunks again. */
const maxNamed = 1_000

type Parts = Pick<Ground, 'feed' | 'store' | 'redactor'>

/** Keeps a proposal for the work that it was made for, or why it wasn't taken. Returns null if it was kept. */
export function keepProposal(
  parts: Parts,
  task_id: TaskId,
  { tree, chapters, by }: Proposal,
  found: KeptChapters,
): Refusal | null {
  if (found.tree !== tree) return workChanged(found.tree)
  const faults = checkPartition(chapters, hunkIds(found))
  return parts.feed.commit((tx): Refusal | null => {
    const task = tx.tasks.get(task_id)
    if (!task) return notFound('task')
    if (faults) {
      const known = tx.chapter_proposals.of(task_id)
      const kept = known?.tree === tree ? known : { task_id, tree, by, chapters: [] }
      tx.chapter_proposals.put({ ...kept, rejected: { by, ...countsOf(faults) } })
    } else {
      const redact = redactorOf(parts, tx, task.project_id)
      const words = chapters.map(({ title, why, hunks }) => ({ title: redact(title), why: redact(why), hunks }))
      tx.chapter_proposals.put({ task_id, tree, by, chapters: words, rejected: null })
    }
    tx.emit('chapters.updated', { project_id: task.project_id, task_id, tree })
    return faults ? incomplete(faults) : null
  })
}

/** Returns the chapters with the words of a proposal, if it is for this tree and still holds each hunk once. */
export function withProposal(
  found: KeptChapters,
  proposal: ChapterProposal | null,
): { readonly found: KeptChapters; readonly told: Pick<ChapterProposal, 'rejected'> & { readonly by: string | null } } {
  if (proposal?.tree !== found.tree) return { found, told: { by: null, rejected: null } }
  const { by, chapters, rejected } = proposal
  // The base can move while the tree stays, and then the hunks are others.
  if (chapters.length === 0 || checkPartition(chapters, hunkIds(found))) return { found, told: { by: null, rejected } }
  return {
    found: { ...found, source: 'agent', chapters: applyProposal(found.chapters, chapters) },
    told: { by, rejected },
  }
}

const hunkIds = ({ chapters }: KeptChapters): readonly string[] =>
  chapters.flatMap(({ hunks }) => hunks.map(({ id }) => id))

const countsOf = ({ missing, duplicate, unknown }: PartitionFaults) => ({
  missing: missing.length,
  duplicate: duplicate.length,
  unknown: unknown.length,
})

export function workChanged(tree: string | null): Refusal {
  return {
    code: 'work_changed',
    message: 'The work changed since you read its chapters. Read them again, then divide the hunks that are there now.',
    details: { tree },
  }
}

function incomplete(faults: PartitionFaults): Refusal {
  const { missing, duplicate, unknown } = countsOf(faults)
  const cut = (ids: readonly string[]) => ids.slice(0, maxNamed)
  return {
    code: 'chapters_incomplete',
    message:
      `Each hunk must be in exactly one chapter. Hunks in none: ${missing}; in more than one: ${duplicate}; names that ` +
      `are no hunk: ${unknown}. Send all chapters again.`,
    details: { missing: cut(faults.missing), duplicate: cut(faults.duplicate), unknown: cut(faults.unknown) },
  }
}
