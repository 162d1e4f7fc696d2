import { primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { TaskId } from '../../../src-shared/contract/ids.ts'
import { tasks } from './work.ts'

/**
 * The files of a task's changes that a reader has viewed, and their content then. A reader is a user's ID, or
 * `operator`.
 */
export const viewedFiles = sqliteTable(
  'viewed_files',
  {
    task_id: text('task_id')
      .$type<TaskId>()
      .notNull()
      .references(() => tasks.id, { onDelete: 'cascade' }),
    reader: text('reader').notNull(),
    path: text('path').notNull(),
    blob: text('blob'),
    new_mode: text('new_mode'),
  },
  (t) => [primaryKey({ columns: [t.task_id, t.reader, t.path] })],
)

/** The hunks of a task's changes that a reader has viewed. A hunk has the same id while its content is the same. */
export const viewedHunks = sqliteTable(
  'viewed_hunks',
  {
    task_id: text('task_id')
      .$type<TaskId>()
      .notNull()
      .references(() => tasks.id, { onDelete: 'cascade' }),
    reader: text('reader').notNull(),
    hunk: text('hunk').notNull(),
    path: text('path').notNull(),
  },
  (t) => [primaryKey({ columns: [t.task_id, t.reader, t.hunk] })],
)
