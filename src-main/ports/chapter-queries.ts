import type { ProposedChapter, RejectedChapters } from '../../src-shared/contract/chapters.ts'
import type { TaskId } from '../../src-shared/contract/ids.ts'

/** Chapters in the words of a person or an agent, for one tree of a task's work. */
export interface ChapterProposal {
  readonly task_id: TaskId
  readonly tree: string
  /** Who proposed the chapters. */
  readonly by: string
  /** Empty if no proposal for this tree was taken. */
  readonly chapters: readonly ProposedChapter[]
  /** The last proposal for this tree, if it was not taken. */
  readonly rejected: RejectedChapters | null
}

export interface ChapterProposalQueries {
  /** Returns the last proposal for a task; deleted with the task. */
  of(task_id: TaskId): ChapterProposal | null
  put(proposal: ChapterProposal): void
}
