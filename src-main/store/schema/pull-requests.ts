import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { ProjectId, TaskId } from '../../../src-shared/contract/ids.ts'
import type { ForgeTrouble, PullRequestState } from '../../../src-shared/contract/pull-requests.ts'
import type { ForgeIntent, PullRequestRecord } from '../../ports/pull-request-queries.ts'
import { flag, json } from './columns.ts'
import { projects, tasks } from './work.ts'

/** The newest pull request of each task that has one. */
export const pullRequests = sqliteTable(
  'pull_requests',
  {
    task_id: text('task_id')
      .$type<TaskId>()
      .primaryKey()
      .notNull()
      .references(() => tasks.id, { onDelete: 'cascade' }),
    project_id: text('project_id')
      .$type<ProjectId>()
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    number: integer('number').notNull(),
    url: text('url').notNull(),
    state: text('state').$type<PullRequestState>().notNull(),
    title: text('title').notNull(),
    target: text('target').notNull(),
    branch: text('branch').notNull(),
    repository: text('repository').notNull(),
    head: text('head').notNull(),
    head_since: text('head_since').notNull().default(''),
    pushed: text('pushed'),
    mergeable: flag('mergeable'),
    merge_commit: text('merge_commit'),
    queued: flag('queued').notNull(),
    auto_merge: flag('auto_merge').notNull(),
    checks: json<PullRequestRecord['checks']>('checks').notNull(),
    threads: json<PullRequestRecord['threads']>('threads').notNull(),
    reviews: json<PullRequestRecord['reviews']>('reviews').notNull(),
    comments: json<PullRequestRecord['comments']>('comments').notNull(),
    rounds: integer('rounds').notNull(),
    rounds_since: text('rounds_since'),
    given: json<readonly string[]>('given').notNull(),
    settled: flag('settled').notNull(),
    synced_at: text('synced_at'),
    read_all_at: text('read_all_at'),
    updated_there: text('updated_there'),
    last_error: json<ForgeTrouble>('last_error'),
    next_poll_at: text('next_poll_at').notNull(),
    failures: integer('failures').notNull(),
    created_at: text('created_at').notNull(),
    updated_at: text('updated_at').notNull(),
  },
  (t) => [
    index('pull_requests_by_number').on(t.project_id, t.number),
    index('pull_requests_live')
      .on(t.next_poll_at)
      .where(sql`settled = 0`),
  ],
)

/** What is to be written to a forge, and what became of it. */
export const forgeIntents = sqliteTable(
  'forge_intents',
  {
    id: text('id').primaryKey().notNull(),
    task_id: text('task_id')
      .$type<TaskId>()
      .notNull()
      .references(() => tasks.id, { onDelete: 'cascade' }),
    project_id: text('project_id')
      .$type<ProjectId>()
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    intent: json<ForgeIntent>('intent').notNull(),
    key: text('key'),
    triggered_by: text('triggered_by').notNull(),
    with_push: flag('with_push').notNull(),
    created_at: text('created_at').notNull(),
    settled_at: text('settled_at'),
    error: text('error'),
  },
  (t) => [
    uniqueIndex('forge_intents_by_key').on(t.task_id, t.key),
    index('forge_intents_pending')
      .on(t.task_id)
      .where(sql`settled_at IS NULL`),
  ],
)
