import { sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { ProposedChapter, RejectedChapters } from '../../../src-shared/contract/chapters.ts'
import type { TaskId } from '../../../src-shared/contract/ids.ts'
import { json } from './columns.ts'
import { tasks } from './work.ts'

/** The last chapters that were proposed for a task's work, and the tree that they are about. */
export const chapterProposals = sqliteTable('chapter_proposals', {
  task_id: text('task_id')
    .$type<TaskId>()
    .primaryKey()
    .notNull()
    .references(() => tasks.id, { onDelete: 'cascade' }),
  tree: text('tree').notNull(),
  by: text('proposed_by').notNull(),
  chapters: json<readonly ProposedChapter[]>('chapters').notNull(),
  /** Set if a later proposal for this tree was not taken. */
  rejected: json<RejectedChapters | null>('rejected'),
})
