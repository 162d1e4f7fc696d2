import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, real, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { ProjectId, TaskId } from '../../../src-shared/contract/ids.ts'
import { tasks } from './work.ts'

/**
 * The search words of each task (`search-words.ts`), indexed by the full-text table `task_text`. The migration's
 * triggers keep both in sync with the tasks.
 */
export const taskWords = sqliteTable('task_words', {
  number: integer('number').primaryKey({ autoIncrement: true }).notNull(),
  task_id: text('task_id')
    .$type<TaskId>()
    .notNull()
    .unique('task_words_by_task')
    .references(() => tasks.id, { onDelete: 'cascade' }),
  words: text('words').notNull(),
})

/**
 * Usage by project and agent (`''` for a person) or task, so that it need not be summed from executions, whose
 * prompts are large. The migration's triggers keep it in sync.
 */
export const usageSums = sqliteTable(
  'usage_sums',
  {
    project_id: text('project_id').$type<ProjectId>().notNull(),
    kind: text('kind').$type<'agent' | 'task'>().notNull(),
    key: text('key').notNull(),
    executions: integer('executions').notNull(),
    input_tokens: integer('input_tokens').notNull(),
    output_tokens: integer('output_tokens').notNull(),
    /** Number of runs that reported their cost. */
    costs: integer('costs').notNull(),
    cost_usd: real('cost_usd').notNull(),
    /** Number of runs whose cost is not all that they cost. */
    partial: integer('partial').notNull().default(0),
    /** Number of runs that reported their tokens. */
    counted: integer('counted').notNull().default(0),
    /** Number of runs that reported their requests. */
    turns: integer('turns').notNull().default(0),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.kind, t.key] }),
    index('usage_sums_by_size').on(t.project_id, t.kind, sql`${t.input_tokens} + ${t.output_tokens}`),
  ],
)
