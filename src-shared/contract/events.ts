import { z } from 'zod'
import { Comment } from './comments.ts'
import { Daemon } from './daemons.ts'
import { Execution, TranscriptEntry } from './executions.ts'
import {
  AgentId,
  CommentId,
  DaemonId,
  IntegrationId,
  ExecutionId,
  KnowledgeId,
  NotificationId,
  ProjectId,
  RunnerId,
  TaskId,
  TaskTemplateId,
  Timestamp,
  TransitionId,
  UserId,
  WorkspaceId,
} from './ids.ts'
import { Integration, syncFailures } from './integrations.ts'
import { User } from './identity.ts'
import { LandingLane } from './landing.ts'
import { KnowledgeEntry } from './knowledge.ts'
import { Member } from './members.ts'
import { Overlap } from './overlaps.ts'
import { notificationTypes } from './notification-types.ts'
import { Agent, Project } from './projects.ts'
import { PullRequest } from './pull-requests.ts'
import { Review } from './reviews.ts'
import { Runner } from './runners.ts'
import { TaskTemplate } from './task-templates.ts'
import { HookOutcome, Task } from './tasks.ts'
import { ViewedContent, workspaceStatuses } from './workspaces.ts'

const base = { project_id: ProjectId.nullable(), occurred_at: Timestamp }
const ofTask = { project_id: ProjectId, task_id: TaskId, occurred_at: Timestamp }

/** Type → payload of every event. Payloads contain the whole changed resource, so that a client need not load it. */
export const eventPayloads = {
  'task.created': z.object({ ...ofTask, task: Task }),
  'task.updated': z.object({ ...ofTask, task: Task }),
  'task.transitioned': z.object({
    ...ofTask,
    task: Task,
    from_state: z.string(),
    to_state: z.string(),
    triggered_by: z.string(),
  }),
  'task.deleted': z.object({ ...ofTask }),
  /** A queued message is new or was changed, or the agent's pending requests have changed. */
  'execution.updated': z.object({ ...ofTask, execution: Execution }),
  'execution.started': z.object({ ...ofTask, execution: Execution }),
  'execution.finished': z.object({ ...ofTask, execution: Execution }),
  'review.updated': z.object({ ...ofTask, review: Review }),
  'workspace.updated': z.object({
    ...ofTask,
    workspace_id: WorkspaceId,
    branch: z.string(),
    status: z.enum(workspaceStatuses),
    cleanup_at: Timestamp.nullable(),
  }),
  'workspace.cleaned': z.object({ ...ofTask, workspace_id: WorkspaceId, branch: z.string() }),
  /**
   * A person gave the rescue up, or it expired after 30 days, so it can't be restored any more. The task may have
   * been deleted long before.
   */
  'rescue.given_up': z.object({ project_id: ProjectId, task_id: z.string(), ref: z.string(), occurred_at: Timestamp }),
  /** Sent only to the reader who marked files or hunks (null: the local operator), in all their clients. */
  'diff.viewed': z.object({
    ...ofTask,
    user_id: UserId.nullable(),
    /** Also those whose last hunk was marked, or the first one unmarked. */
    files: z.array(ViewedContent),
    /** Also those of the files. */
    hunks: z.array(z.string()),
    viewed: z.boolean(),
  }),
  /** The landing lane of one branch: waiting tasks, tests, and the state of its tip. */
  'landing.updated': z.object({ project_id: ProjectId, lane: LandingLane, occurred_at: Timestamp }),
  /** All pairs of live worktrees of the project that overlap now. */
  'overlaps.updated': z.object({ project_id: ProjectId, items: z.array(Overlap), occurred_at: Timestamp }),
  /** Chapters by the rules are ready, which were `pending` before, or a person or an agent proposed others. */
  'chapters.updated': z.object({ ...ofTask, tree: z.string() }),
  'hook.finished': z.object({
    ...ofTask,
    transition_id: TransitionId.nullable().describe('null for a hook that no transition waits for.'),
    hook: HookOutcome,
  }),
  'transition.effect_failed': z.object({
    ...ofTask,
    phase: z.string(),
    action: z.string(),
    reason: z.string(),
  }),
  'comment.created': z.object({ ...ofTask, comment: Comment }),
  'comment.updated': z.object({ ...ofTask, comment: Comment }),
  'comment.deleted': z.object({ ...ofTask, comment_id: CommentId }),
  'notification.created': z.object({
    ...ofTask,
    notification_id: NotificationId,
    event_type: z.enum(notificationTypes),
    title: z.string(),
    body: z.string().nullable(),
    caused_by: z.string().nullable().optional(),
  }),
  /**
   * Sent only to the reader who marked it (null: the local operator). `notification_id` is null for a whole project.
   */
  'notification.read': z.object({
    project_id: ProjectId,
    user_id: UserId.nullable(),
    notification_id: NotificationId.nullable(),
    read: z.boolean(),
    occurred_at: Timestamp,
  }),
  /** Deleted by a user. A deleted task or project takes its notifications with it, under its own event. */
  'notification.deleted': z.object({ ...ofTask, notification_id: NotificationId }),
  /** `entry` is null after its deletion. */
  'knowledge.updated': z.object({
    project_id: ProjectId,
    knowledge_id: KnowledgeId,
    entry: KnowledgeEntry.nullable(),
    occurred_at: Timestamp,
  }),
  /** `template` is null after its deletion. */
  'task_template.updated': z.object({
    project_id: ProjectId,
    template_id: TaskTemplateId,
    template: TaskTemplate.nullable(),
    occurred_at: Timestamp,
  }),
  /** A person moved a queued run; `projects.queue` has the new order. */
  'queue.updated': z.object({ project_id: ProjectId, occurred_at: Timestamp }),
  'pull_request.updated': z.object({ ...ofTask, pull_request: PullRequest }),
  /** `integration` is null after its deletion. */
  'integration.updated': z.object({
    project_id: ProjectId,
    integration_id: IntegrationId,
    integration: Integration.nullable(),
    occurred_at: Timestamp,
  }),
  ExternalSyncCompleted: z.object({
    project_id: ProjectId,
    integration_id: IntegrationId,
    imported_count: z.int(),
    skipped_count: z.int(),
    error_count: z.int(),
    occurred_at: Timestamp,
  }),
  ExternalSyncFailed: z.object({
    project_id: ProjectId,
    integration_id: IntegrationId,
    reason: z.enum(syncFailures),
    message: z.string(),
    occurred_at: Timestamp,
  }),
  /** `member` is null after a removal, which the removed member receives too. */
  'member.updated': z.object({
    project_id: ProjectId,
    user_id: UserId,
    member: Member.nullable(),
    occurred_at: Timestamp,
  }),
  /** Sent to its owner and to admins; a mere heartbeat emits none. `daemon` is null after its revocation. */
  'daemon.updated': z.object({ ...base, daemon_id: DaemonId, daemon: Daemon.nullable() }),
  /** `runner` is null after its removal. */
  'runner.updated': z.object({ ...base, runner_id: RunnerId, runner: Runner.nullable() }),
  /** Sent to admins and to the user. */
  'user.updated': z.object({ ...base, user: User }),
  'agent.updated': z.object({ ...base, agent_id: AgentId, agent: Agent.nullable() }),
  'project.updated': z.object({ ...base, project_id: ProjectId, project: Project.nullable() }),
} as const

export type EventType = keyof typeof eventPayloads
export type EventPayload<T extends EventType> = z.infer<(typeof eventPayloads)[T]>

/** A change, numbered once; the same envelope goes over SSE and IPC. */
export type EventEnvelope = {
  [T in EventType]: { readonly seq: number; readonly type: T; readonly data: EventPayload<T> }
}[EventType]

/** Current activity of a running agent, for its card. Neither numbered nor stored: the next one replaces it. */
export const Activity = z.object({
  project_id: ProjectId,
  task_id: TaskId,
  execution_id: ExecutionId,
  text: z.string(),
  quiet_since: Timestamp.nullable().describe('Since when nothing was heard of it, once that is long.'),
  occurred_at: Timestamp,
})
export type Activity = z.infer<typeof Activity>

/** Files of a watched worktree (`tasks.watch_diff`) have changed. Neither numbered nor stored. */
export const WorktreeChange = z.object({ project_id: ProjectId, task_id: TaskId, occurred_at: Timestamp })
export type WorktreeChange = z.infer<typeof WorktreeChange>

/** A hook of a task has started or has new output (`tasks.hook_runs`). Neither numbered nor stored. */
export const HookActivity = z.object({
  project_id: ProjectId,
  task_id: TaskId,
  log_name: z.string(),
  occurred_at: Timestamp,
})
export type HookActivity = z.infer<typeof HookActivity>

/**
 * An item of an event subscription. `begun`, always first: all events after `seq` will follow. `reset`: the requested
 * past is gone, so load everything again.
 */
export type FeedItem =
  | { readonly kind: 'begun'; readonly seq: number }
  | { readonly kind: 'event'; readonly event: EventEnvelope }
  | { readonly kind: 'activity'; readonly activity: Activity }
  | { readonly kind: 'worktree'; readonly change: WorktreeChange }
  | { readonly kind: 'hook'; readonly hook: HookActivity }
  | { readonly kind: 'reset'; readonly seq: number }

/** An item of an execution's stream: an entry with its line number, or the end. */
export const TranscriptItem = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('entry'), index: z.int(), entry: TranscriptEntry }),
  z.object({ kind: z.literal('end') }),
])
export type TranscriptItem = z.infer<typeof TranscriptItem>
