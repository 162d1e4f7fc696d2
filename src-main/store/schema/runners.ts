import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { ExecutionId, JobId, ProjectId, RunnerId } from '../../../src-shared/contract/ids.ts'
import type { RunnerConfig, RunnerKind, RunnerState } from '../../../src-shared/contract/runners.ts'
import type { JobRecord } from '../../ports/job-queries.ts'
import { flag, json } from './columns.ts'
import { projects } from './work.ts'

/** Where runs happen. The row `here` is this machine; a migration made it. */
export const runners = sqliteTable('runners', {
  id: text('id').$type<RunnerId>().primaryKey().notNull(),
  name: text('name').notNull(),
  kind: text('kind').$type<RunnerKind>().notNull(),
  config: json<RunnerConfig | null>('config'),
  /** The projects whose runs it takes; null: of all. */
  projects: json<ProjectId[] | null>('projects'),
  capacity: integer('capacity'),
  grace_seconds: integer('grace_seconds').notNull(),
  state: text('state').$type<RunnerState>().notNull(),
  last_error: text('last_error'),
  created_at: text('created_at').notNull(),
})

/** What dev containers of a project may reach on the machine of a runner, as an admin said. */
export const runnerTrust = sqliteTable(
  'runner_trust',
  {
    runner_id: text('runner_id')
      .$type<RunnerId>()
      .notNull()
      .references(() => runners.id, { onDelete: 'cascade' }),
    project_id: text('project_id')
      .$type<ProjectId>()
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    sha256: text('sha256').notNull(),
    trusted_by: text('trusted_by').notNull(),
    created_at: text('created_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.runner_id, t.project_id, t.sha256] })],
)

/** Jobs that runners elsewhere have taken; a day longer, who may still speak of those that are over. */
export const jobs = sqliteTable(
  'jobs',
  {
    id: text('id').$type<JobId>().primaryKey().notNull(),
    runner_id: text('runner_id').$type<RunnerId>().notNull(),
    task_id: text('task_id').notNull(),
    execution_id: text('execution_id').$type<ExecutionId>(),
    state: text('state').$type<JobRecord['state']>().notNull(),
    fence: integer('fence').notNull(),
    instance: text('instance'),
    tokens: json<JobRecord['tokens']>('tokens').notNull(),
    spec: json<NonNullable<JobRecord['spec']>>('spec'),
    ground: json<JobRecord['ground']>('ground').notNull(),
    inputs: json<JobRecord['inputs']>('inputs').notNull(),
    last_input: integer('last_input').notNull(),
    logs: json<JobRecord['logs']>('logs').notNull(),
    sent_bytes: integer('sent_bytes').notNull(),
    stopping: flag('stopping').notNull(),
    finished_fence: integer('finished_fence'),
    over_at: text('over_at'),
  },
  (t) => [
    index('jobs_accepted')
      .on(t.id)
      .where(sql`state = 'accepted'`),
    index('jobs_over')
      .on(t.over_at)
      .where(sql`over_at IS NOT NULL`),
  ],
)
