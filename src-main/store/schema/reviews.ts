import { sql } from 'drizzle-orm'
import { integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { RepoId, ReviewId, TaskId } from '../../../src-shared/contract/ids.ts'
import type {
  ReviewConfigChange,
  ReviewNote,
  ReviewStatus,
  StepResult,
  Verdict,
} from '../../../src-shared/contract/reviews.ts'
import type { ConfiguredPrograms } from '../../ports/repository-reader.ts'
import { flag, json } from './columns.ts'
import { repos, tasks } from './work.ts'

export const reviews = sqliteTable(
  'reviews',
  {
    id: text('id').$type<ReviewId>().primaryKey().notNull(),
    task_id: text('task_id')
      .$type<TaskId>()
      .notNull()
      .references(() => tasks.id, { onDelete: 'cascade' }),
    status: text('status').$type<ReviewStatus>().notNull(),
    attempt_number: integer('attempt_number').notNull(),
    ci_steps: json<string[]>('ci_steps').notNull(),
    step_results: json<StepResult[]>('step_results').notNull(),
    verdicts: json<Verdict[]>('verdicts').notNull(),
    head: text('head_commit'),
    tree: text('tree'),
    changed_by_steps: json<string[]>('changed_by_steps')
      .notNull()
      .default(sql`'[]'`),
    notes: json<ReviewNote[]>('notes')
      .notNull()
      .default(sql`'[]'`),
    empty: flag('empty').notNull().default(false),
    ignored: json<string[]>('ignored')
      .notNull()
      .default(sql`'[]'`),
    config_changes: json<ReviewConfigChange[]>('config_changes')
      .notNull()
      .default(sql`'[]'`),
    created_at: text('created_at').notNull(),
    finished_at: text('finished_at'),
  },
  (t) => [uniqueIndex('reviews_by_task').on(t.task_id, t.attempt_number)],
)

/** Health of base branches: the result of the checks of the newest tested commit. */
export const baseHealth = sqliteTable(
  'base_health',
  {
    repo_id: text('repo_id')
      .$type<RepoId>()
      .notNull()
      .references(() => repos.id, { onDelete: 'cascade' }),
    branch: text('branch').notNull(),
    commit: text('commit_id').notNull(),
    health: text('health').$type<'green' | 'red'>().notNull(),
    last_green: text('last_green'),
    step: text('step'),
    exit_code: integer('exit_code'),
    output_tail: text('output_tail').notNull(),
    checked_at: text('checked_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.repo_id, t.branch] })],
)

/** The programs that git may run in a repository, by its common folder, as configured when it was added. */
export const trustedRepositories = sqliteTable('trusted_repositories', {
  common: text('common').primaryKey().notNull(),
  programs: json<ConfiguredPrograms>('programs').notNull(),
  trusted_at: text('trusted_at').notNull(),
})
