import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { ProjectId, RunnerId } from '../../../src-shared/contract/ids.ts'
import type { RunnerConfig, RunnerKind, RunnerState } from '../../../src-shared/contract/runners.ts'
import { json } from './columns.ts'

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
