import { sql } from 'drizzle-orm'
import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
  type AnySQLiteColumn,
} from 'drizzle-orm/sqlite-core'
import type { Comment, CommentAnchor, CommentAnswer, CommentSent } from '../../../src-shared/contract/comments.ts'
import type {
  AttachmentId,
  CommentId,
  ExecutionId,
  KnowledgeId,
  NotificationId,
  ProjectId,
  RepoId,
  TaskId,
  TaskTemplateId,
} from '../../../src-shared/contract/ids.ts'
import type { NotificationType } from '../../../src-shared/contract/notification-types.ts'
import type { TaskTemplate } from '../../../src-shared/contract/task-templates.ts'
import type { KnowledgeEntry } from '../../../src-shared/contract/knowledge.ts'
import { json } from './columns.ts'
import { executions, projects, repos, tasks } from './work.ts'

/** Replies are deleted with their comment by a query: a cascade would only go as deep as SQLite's triggers may nest. */
export const comments = sqliteTable(
  'comments',
  {
    id: text('id').$type<CommentId>().primaryKey().notNull(),
    task_id: text('task_id')
      .$type<TaskId>()
      .notNull()
      .references(() => tasks.id, { onDelete: 'cascade' }),
    parent_id: text('parent_id')
      .$type<CommentId>()
      .references((): AnySQLiteColumn => comments.id),
    author: json<Comment['author']>('author').notNull(),
    body: text('body').notNull(),
    anchor: json<CommentAnchor>('anchor'),
    sent: json<CommentSent>('sent'),
    answer: json<CommentAnswer>('answer'),
    original: json<Comment['original']>('original'),
    applied: json<Comment['applied']>('applied'),
    resolved_at: text('resolved_at'),
    created_at: text('created_at').notNull(),
    updated_at: text('updated_at').notNull(),
  },
  (t) => [index('comments_by_task').on(t.task_id, t.created_at, t.id), index('comments_by_parent').on(t.parent_id)],
)

/** The full-text table `knowledge_text` has its words, by `number`; the migration's triggers keep them in sync. */
export const knowledge = sqliteTable(
  'knowledge',
  {
    number: integer('number').primaryKey({ autoIncrement: true }).notNull(),
    id: text('id').$type<KnowledgeId>().notNull().unique('knowledge_by_id'),
    project_id: text('project_id')
      .$type<ProjectId>()
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    title: text('title').notNull(),
    body: text('body').notNull(),
    source_by: text('source_by').notNull(),
    source_task_id: text('source_task_id')
      .$type<TaskId>()
      .references(() => tasks.id, { onDelete: 'set null' }),
    source_execution_id: text('source_execution_id')
      .$type<ExecutionId>()
      .references(() => executions.id, { onDelete: 'set null' }),
    edited_by: text('edited_by'),
    status: text('status').$type<KnowledgeEntry['status']>().notNull().default('accepted'),
    accepted_by: text('accepted_by'),
    created_at: text('created_at').notNull(),
    updated_at: text('updated_at').notNull(),
  },
  (t) => [
    index('knowledge_by_project').on(t.project_id, t.status, t.created_at, t.id),
    index('knowledge_by_task').on(t.source_task_id),
    index('knowledge_by_execution').on(t.source_execution_id),
  ],
)

/** Knowledge of the project that was injected for a task's agents. */
export const knowledgeInjections = sqliteTable('knowledge_injections', {
  task_id: text('task_id')
    .$type<TaskId>()
    .primaryKey()
    .notNull()
    .references(() => tasks.id, { onDelete: 'cascade' }),
  text: text('text').notNull(),
})

export const notifications = sqliteTable(
  'notifications',
  {
    id: text('id').$type<NotificationId>().primaryKey().notNull(),
    event_type: text('event_type').$type<NotificationType>().notNull(),
    title: text('title').notNull(),
    body: text('body'),
    project_id: text('project_id')
      .$type<ProjectId>()
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    task_id: text('task_id')
      .$type<TaskId>()
      .notNull()
      .references(() => tasks.id, { onDelete: 'cascade' }),
    created_at: text('created_at').notNull(),
    /** Who caused the notification, for whom it is no news: `user:<handle>`. */
    caused_by: text('caused_by'),
  },
  (t) => [
    index('notifications_by_time').on(t.created_at, t.id),
    index('notifications_by_project').on(t.project_id, t.created_at, t.id),
    index('notifications_by_task').on(t.task_id),
  ],
)

/** Read marks by reader: a user's ID, or `operator`. */
export const notificationReads = sqliteTable(
  'notification_reads',
  {
    notification_id: text('notification_id')
      .$type<NotificationId>()
      .notNull()
      .references(() => notifications.id, { onDelete: 'cascade' }),
    reader: text('reader').notNull(),
  },
  (t) => [primaryKey({ columns: [t.notification_id, t.reader] })],
)

/** Files that people added to a task; the bytes are in the data folder, named by `sha256`. */
export const attachments = sqliteTable(
  'attachments',
  {
    id: text('id').$type<AttachmentId>().primaryKey().notNull(),
    project_id: text('project_id')
      .$type<ProjectId>()
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    /** null until a text of a task names the file. */
    task_id: text('task_id')
      .$type<TaskId>()
      .references(() => tasks.id, { onDelete: 'cascade' }),
    name: text('name').notNull(),
    media_type: text('media_type').notNull(),
    size: integer('size').notNull(),
    sha256: text('sha256').notNull(),
    created_by: text('created_by').notNull(),
    created_at: text('created_at').notNull(),
  },
  (t) => [
    index('attachments_by_task').on(t.task_id, t.created_at, t.id),
    index('attachments_by_project').on(t.project_id, t.created_at),
    index('attachments_by_content').on(t.sha256),
  ],
)

/** Starting points for new tasks of a project. */
export const taskTemplates = sqliteTable(
  'task_templates',
  {
    id: text('id').$type<TaskTemplateId>().primaryKey().notNull(),
    project_id: text('project_id')
      .$type<ProjectId>()
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    name: text('name').notNull(),
    title: text('title').notNull(),
    description: text('description'),
    priority: integer('priority').notNull(),
    labels: json<string[]>('labels').notNull(),
    review_config: json<TaskTemplate['review_config']>('review_config').notNull(),
    roles: json<TaskTemplate['roles']>('roles').notNull(),
    repo_id: text('repo_id')
      .$type<RepoId>()
      .references(() => repos.id, { onDelete: 'set null' }),
    created_at: text('created_at').notNull(),
    updated_at: text('updated_at').notNull(),
  },
  (t) => [
    uniqueIndex('task_templates_by_name').on(t.project_id, sql`${t.name} COLLATE NOCASE`),
    index('task_templates_by_repo').on(t.repo_id),
  ],
)
