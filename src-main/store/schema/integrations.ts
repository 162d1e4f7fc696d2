import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { AgentId, IntegrationId, ProjectId, TaskId, UserId } from '../../../src-shared/contract/ids.ts'
import type { SyncError, SyncFilter } from '../../../src-shared/contract/integrations.ts'
import {
  noPullRequests,
  noWriteBack,
  unknownCan,
  type PullRequestCan,
  type PullRequestSettings,
  type WriteBackSettings,
} from '../../../src-shared/contract/pull-requests.ts'
import type { Platform } from '../../../src-shared/contract/trackers.ts'
import type { Repository } from '../../integrations/rules/issue-address.ts'
import type { SyncCursor } from '../../ports/issue-trackers.ts'
import { flag, json } from './columns.ts'
import { projects, tasks } from './work.ts'

/** Connections of projects to issue trackers, with the progress of their syncs. */
export const integrations = sqliteTable(
  'integrations',
  {
    id: text('id').$type<IntegrationId>().primaryKey().notNull(),
    project_id: text('project_id')
      .$type<ProjectId>()
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    platform: text('platform').$type<Platform>().notNull(),
    base_url: text('base_url').notNull(),
    owner: text('owner').notNull(),
    repo: text('repo').notNull(),
    token_secret_ref: text('token_secret_ref').notNull(),
    poll_interval_secs: integer('poll_interval_secs').notNull(),
    sync_filter: json<SyncFilter>('sync_filter').notNull(),
    default_task_state: text('default_task_state'),
    default_assignee_type: text('default_assignee_type').$type<'agent' | 'user'>(),
    default_assignee_id: text('default_assignee_id').$type<AgentId | UserId>(),
    enabled: flag('enabled').notNull(),
    pull_requests: json<PullRequestSettings>('pull_requests').notNull().default(noPullRequests),
    write_back: json<WriteBackSettings>('write_back').notNull().default(noWriteBack),
    webhook_secret_ref: text('webhook_secret_ref'),
    can: json<PullRequestCan>('can').notNull().default(unknownCan),
    token_expires_at: text('token_expires_at'),
    last_polled_at: text('last_polled_at'),
    last_error: json<SyncError>('last_error'),
    next_poll_at: text('next_poll_at').notNull(),
    walk: json<SyncCursor>('walk'),
    since: text('since'),
    etag: text('etag'),
    not_before: text('not_before'),
    failures: integer('failures').notNull(),
    former_names: json<Repository[]>('former_names').notNull(),
    created_at: text('created_at').notNull(),
    updated_at: text('updated_at').notNull(),
  },
  (t) => [uniqueIndex('integrations_by_project').on(t.project_id)],
)

/**
 * The issue of each imported task. A link outlives its task, so that a deleted task is not imported again; it is
 * deleted with the project.
 */
export const externalLinks = sqliteTable(
  'external_links',
  {
    global_id: text('global_id').notNull(),
    project_id: text('project_id')
      .$type<ProjectId>()
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    task_id: text('task_id')
      .$type<TaskId>()
      .references(() => tasks.id, { onDelete: 'set null' }),
    number: integer('number').notNull(),
    url: text('url').notNull(),
    created_at: text('created_at').notNull(),
  },
  (t) => [
    // Trackers compare names case-insensitively.
    uniqueIndex('external_links_by_global_id').on(sql`lower(${t.global_id})`),
    uniqueIndex('external_links_by_task').on(t.task_id),
    index('external_links_by_project').on(t.project_id),
  ],
)
