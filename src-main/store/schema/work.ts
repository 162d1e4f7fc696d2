import type { HeldContainment } from '../../../src-shared/contract/containment.ts'
import type { ExecutorProfile } from '../../../src-shared/contract/executor-profiles.ts'
import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, real, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { ExecutionStatus, Usage } from '../../../src-shared/contract/executions.ts'
import type {
  AgentId,
  ExecutionId,
  ProjectId,
  RepoId,
  RunnerId,
  TaskId,
  TransitionId,
  UserId,
  WorkspaceId,
} from '../../../src-shared/contract/ids.ts'
import type { AgentConfig, ProjectSettings, ReviewConfig } from '../../../src-shared/contract/projects.ts'
import type { PromptPartSize } from '../../../src-shared/contract/prompts.ts'
import type { ReviewConfigChange } from '../../../src-shared/contract/reviews.ts'
import { hereRunner } from '../../../src-shared/contract/runners.ts'
import type {
  Assignee,
  DiffStat,
  ErrorAnnotation,
  HookOutcome,
  ReviewSummary,
  StartWhenReady,
} from '../../../src-shared/contract/tasks.ts'
import type { WorkspaceStatus } from '../../../src-shared/contract/workspaces.ts'
import type { AccountRecord } from '../../ports/agent-queries.ts'
import type { ExecutionRecord } from '../../ports/execution-queries.ts'
import type { ProjectDeletion } from '../../ports/project-queries.ts'
import type { MergeRecord, RunFindings, TaskRecord } from '../../ports/task-queries.ts'
import type { StackPlace } from '../../ports/stack-place.ts'
import type { RepositoryState } from '../../ports/repository-state.ts'
import type { Effect } from '../../domain/transition/effects.ts'
import type { PendingHooks } from '../../domain/transition/pending-hooks.ts'
import type { HeldRules } from '../../domain/access/authority.ts'
import { flag, json } from './columns.ts'

export const projects = sqliteTable('projects', {
  id: text('id').$type<ProjectId>().primaryKey().notNull(),
  name: text('name').notNull(),
  key: text('key').notNull().default('').unique('projects_by_key'),
  owner_id: text('owner_id').$type<UserId>(),
  paused_at: text('paused_at'),
  workflow_definition: text('workflow_definition').notNull(),
  settings: json<Partial<ProjectSettings>>('settings').notNull(),
  /** Set for a deleted project, which is hidden while its rows are deleted bit by bit. */
  deletion: json<ProjectDeletion>('deletion'),
  created_at: text('created_at').notNull(),
  updated_at: text('updated_at').notNull(),
})

/** The last task number of a project. It outlives the task, so that no number is used twice. */
export const taskNumbers = sqliteTable('task_numbers', {
  project_id: text('project_id')
    .$type<ProjectId>()
    .primaryKey()
    .notNull()
    .references(() => projects.id, { onDelete: 'cascade' }),
  last: integer('last').notNull(),
})

export const repos = sqliteTable(
  'repos',
  {
    id: text('id').$type<RepoId>().primaryKey().notNull(),
    project_id: text('project_id')
      .$type<ProjectId>()
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    name: text('name').notNull(),
    path: text('path').notNull(),
    default_branch: text('default_branch').notNull(),
    is_primary: flag('is_primary').notNull(),
  },
  (t) => [index('repos_by_project').on(t.project_id)],
)

export const agents = sqliteTable('agents', {
  id: text('id').$type<AgentId>().primaryKey().notNull(),
  name: text('name').notNull(),
  owner_id: text('owner_id').$type<UserId>(),
  daemon_id: text('daemon_id'),
  executor: text('executor').$type<ExecutorProfile>().notNull(),
  config: json<AgentConfig>('config').notNull(),
  paused: flag('paused').notNull(),
  created_at: text('created_at').notNull(),
})

export const tasks = sqliteTable(
  'tasks',
  {
    id: text('id').$type<TaskId>().primaryKey().notNull(),
    project_id: text('project_id')
      .$type<ProjectId>()
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    number: integer('number').notNull().default(0),
    repo_id: text('repo_id').$type<RepoId>().notNull(),
    parent_id: text('parent_id').$type<TaskId>(),
    subtask_mode: text('subtask_mode').$type<'independent' | 'ordered'>(),
    title: text('title').notNull(),
    description: text('description'),
    status: text('status').notNull(),
    version: integer('version').notNull(),
    entry_barrier: flag('entry_barrier').notNull(),
    review_config: json<ReviewConfig>('review_config').notNull(),
    roles: json<Record<string, Assignee>>('roles').notNull(),
    labels: json<string[]>('labels').notNull(),
    priority: integer('priority').notNull(),
    position: real('position').notNull(),
    review_passed_at: text('review_passed_at'),
    error_annotation: json<ErrorAnnotation>('error_annotation'),
    archived: flag('archived').notNull(),
    active_execution_id: text('active_execution_id').$type<ExecutionId>(),
    /** Who last submitted the task to review: `agent:<id>` or `user:<id>`. */
    context_holder: text('context_holder'),
    /** An ID of a person's last action on the task: earlier rejections do not count. */
    last_human_action_id: text('last_human_action_id'),
    /** Paths of the common git folder that changed during runs, until a person passes a review that names them. */
    repository_changes: json<readonly string[]>('repository_changes')
      .notNull()
      .default(sql`'[]'`),
    /** What runs left besides the task's branch, until a person passes a review that names it. */
    run_findings: json<RunFindings>('run_findings')
      .notNull()
      .default(sql`'{"notes":[],"places":[]}'`),
    review_config_changes: json<readonly ReviewConfigChange[]>('review_config_changes')
      .notNull()
      .default(sql`'[]'`),
    review_summary: json<ReviewSummary>('review_summary'),
    diff_stat: json<DiffStat>('diff_stat'),
    /** The run whose token made the task. */
    created_under: text('created_under').$type<ExecutionId>(),
    /** What starts on the task without a person's word must be at least as contained. */
    held_to: json<HeldRules>('held_to'),
    start_when_ready: json<StartWhenReady>('start_when_ready'),
    /** The task on whose branch its own begins. */
    stacked_on: text('stacked_on').$type<TaskId>(),
    /** The task whose merge this one reverts. */
    reverts: text('reverts').$type<TaskId>(),
    /** The last move of its base branch to its work. */
    merge: json<MergeRecord>('merge'),
    /** Limits that people raised for the task, and the limits it has had a warning for. */
    limits: json<TaskRecord['limits']>('limits'),
    created_at: text('created_at').notNull(),
    updated_at: text('updated_at').notNull(),
  },
  (t) => [
    uniqueIndex('tasks_by_number').on(t.project_id, t.number),
    index('tasks_by_project').on(t.project_id, t.archived, t.position, t.id),
    // Lists that include archived tasks.
    index('tasks_in_order').on(t.project_id, t.position, t.id),
    // Contains all columns that a board's columns are chosen by, so the rows themselves are not read.
    index('tasks_by_status').on(t.project_id, t.status, t.archived, t.position, t.id, t.updated_at),
    index('tasks_pressing')
      .on(t.project_id)
      .where(sql`active_execution_id IS NOT NULL OR error_annotation IS NOT NULL`),
    index('tasks_by_repo').on(t.repo_id, t.id),
    index('tasks_by_parent').on(t.parent_id, t.position, t.id),
    index('tasks_starting_when_ready')
      .on(t.id)
      .where(sql`start_when_ready IS NOT NULL`),
    index('tasks_stacked')
      .on(t.stacked_on)
      .where(sql`stacked_on IS NOT NULL`),
    index('tasks_undoing_merge')
      .on(t.id)
      .where(sql`merge ->> '$.undo' IS NOT NULL`),
  ],
)

export const dependencies = sqliteTable(
  'dependencies',
  {
    task_id: text('task_id')
      .$type<TaskId>()
      .notNull()
      .references(() => tasks.id, { onDelete: 'cascade' }),
    depends_on_id: text('depends_on_id')
      .$type<TaskId>()
      .notNull()
      .references(() => tasks.id, { onDelete: 'cascade' }),
  },
  (t) => [primaryKey({ columns: [t.task_id, t.depends_on_id] }), index('dependencies_by_target').on(t.depends_on_id)],
)

export const transitions = sqliteTable(
  'transitions',
  {
    id: text('id').$type<TransitionId>().primaryKey().notNull(),
    task_id: text('task_id')
      .$type<TaskId>()
      .notNull()
      .references(() => tasks.id, { onDelete: 'cascade' }),
    from_state: text('from_state').notNull(),
    to_state: text('to_state').notNull(),
    triggered_by: text('triggered_by').notNull(),
    rejection: flag('rejection').notNull(),
    trigger_reason: text('trigger_reason'),
    hooks: json<HookOutcome[]>('hooks').notNull(),
    created_at: text('created_at').notNull(),
  },
  (t) => [
    index('transitions_by_task').on(t.task_id, t.id),
    index('transitions_rejections')
      .on(t.task_id, t.from_state, t.id)
      .where(sql`rejection = 1`),
  ],
)

export const executions = sqliteTable(
  'executions',
  {
    id: text('id').$type<ExecutionId>().primaryKey().notNull(),
    task_id: text('task_id')
      .$type<TaskId>()
      .notNull()
      .references(() => tasks.id, { onDelete: 'cascade' }),
    project_id: text('project_id').$type<ProjectId>().notNull(),
    role: text('role').notNull(),
    agent_id: text('agent_id').$type<AgentId>(),
    user_id: text('user_id').$type<UserId>(),
    executor: text('executor').$type<ExecutorProfile | 'person'>().notNull(),
    status: text('status').$type<ExecutionStatus>().notNull(),
    /** The workflow allows the run to start; it may still wait for a free slot. */
    dispatched: flag('dispatched').notNull(),
    exit_code: integer('exit_code'),
    prompt: text('prompt').notNull(),
    /** End offsets of the prompt's parts. */
    prompt_parts: json<readonly PromptPartSize[]>('prompt_parts'),
    overrides: json<ExecutionRecord['overrides']>('overrides').notNull(),
    session_id: text('session_id'),
    usage: json<Usage>('usage'),
    error: text('error'),
    summary: text('summary'),
    /** HEAD of the worktree at the start: shows whether the run committed anything. */
    start_commit: text('start_commit'),
    /** State of the repository besides its files at the start; differences at the end are noted. */
    repository_state: json<RepositoryState>('repository_state'),
    containment: text('containment').$type<HeldContainment>(),
    /** Where it runs; null before it starts, and for agents elsewhere. */
    runner_id: text('runner_id').$type<RunnerId>(),
    attempt: integer('attempt').notNull().default(1),
    /** The contact with its runner; null where the service has its processes itself. */
    link: json<NonNullable<ExecutionRecord['link']>>('link'),
    pid: integer('pid'),
    pid_started: text('pid_started'),
    started_at: text('started_at'),
    finished_at: text('finished_at'),
    last_heartbeat_at: text('last_heartbeat_at'),
    /** The run waits until then, for its provider's limit or a retry. */
    retry_at: text('retry_at'),
    /** The rank that a person gave it in the queue; null: after all ranked ones, by age. */
    queue_rank: integer('queue_rank'),
    created_at: text('created_at').notNull(),
  },
  (t) => [
    index('executions_by_task').on(t.task_id, t.id),
    // Contains all columns that the queue reads, so the rows themselves are not read.
    index('executions_open')
      .on(
        ...[
          t.id,
          t.task_id,
          t.project_id,
          t.role,
          t.agent_id,
          t.status,
          t.dispatched,
          t.created_at,
          t.retry_at,
          t.queue_rank,
          t.runner_id,
        ],
        sql`${t.overrides} ->> '$.message' IS NOT NULL`,
        sql`${t.overrides} ->> '$.runner_ids'`,
      )
      .where(sql`status IN ('queued', 'running')`),
    index('executions_with_usage')
      .on(t.project_id, t.agent_id)
      .where(sql`usage IS NOT NULL`),
  ],
)

/** Provider accounts that agents use, as providers reported them. */
export const accounts = sqliteTable('accounts', {
  account: text('account').primaryKey().notNull(),
  executor: text('executor').$type<ExecutorProfile>().notNull(),
  /** When the usage limit ends; null without a limit. */
  limited_until: text('limited_until'),
  /** The reset time from the provider; without one, retries are made with growing pauses. */
  resets_at: text('resets_at'),
  tries: integer('tries').notNull(),
  windows: json<AccountRecord['windows']>('windows').notNull(),
  told_at: text('told_at').notNull(),
})

export const workspaces = sqliteTable(
  'workspaces',
  {
    id: text('id').$type<WorkspaceId>().primaryKey().notNull(),
    task_id: text('task_id')
      .$type<TaskId>()
      .notNull()
      .references(() => tasks.id, { onDelete: 'cascade' }),
    status: text('status').$type<WorkspaceStatus>().notNull(),
    repo_path: text('repo_path').notNull(),
    branch: text('branch').notNull(),
    path: text('path').notNull(),
    /** Where its runs, checks and hooks happen. */
    runner_id: text('runner_id').$type<RunnerId>().notNull().default(hereRunner),
    base_branch: text('base_branch').notNull(),
    base_commit: text('base_commit'),
    port_base: integer('port_base'),
    cleanup_at: text('cleanup_at'),
    error: text('error'),
    /** Where its branch lies in a stack. */
    stack: json<StackPlace>('stack'),
    created_at: text('created_at').notNull(),
  },
  (t) => [
    uniqueIndex('workspaces_by_task').on(t.task_id),
    uniqueIndex('workspaces_by_port_base').on(t.port_base),
    index('workspaces_at_path').on(t.path),
    index('workspaces_to_clean')
      .on(t.cleanup_at)
      .where(sql`status = 'cleanup_scheduled'`),
    index('workspaces_stacked')
      .on(t.task_id)
      .where(sql`stack IS NOT NULL`),
  ],
)

export const events = sqliteTable('events', {
  seq: integer('seq').primaryKey({ autoIncrement: true }).notNull(),
  project_id: text('project_id').$type<ProjectId>(),
  type: text('type').notNull(),
  data: text('data').notNull(),
})

/** The outbox: what must follow a committed change. A row is deleted in the transaction that completes it. */
export const effects = sqliteTable(
  'effects',
  {
    id: integer('id').primaryKey({ autoIncrement: true }).notNull(),
    task_id: text('task_id')
      .$type<TaskId>()
      .notNull()
      .references(() => tasks.id, { onDelete: 'cascade' }),
    data: json<Effect>('data').notNull(),
  },
  (t) => [index('effects_by_task').on(t.task_id, t.id)],
)

/** The outbox of lifecycle hooks: events whose hooks must still run. A newer move removes none of them. */
export const pendingHooks = sqliteTable(
  'pending_hooks',
  {
    id: integer('id').primaryKey({ autoIncrement: true }).notNull(),
    task_id: text('task_id')
      .$type<TaskId>()
      .notNull()
      .references(() => tasks.id, { onDelete: 'cascade' }),
    data: json<PendingHooks>('data').notNull(),
  },
  (t) => [index('pending_hooks_by_task').on(t.task_id, t.id)],
)
