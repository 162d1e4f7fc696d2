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
import { notificationTypes } from './notification-types.ts'
import { Agent, Project } from './projects.ts'
import { Review } from './reviews.ts'
import { TaskTemplate } from './task-templates.ts'
import { HookOutcome, Task } from './tasks.ts'
import { ViewedContent, workspaceStatuses } from './workspaces.ts'

const base = { project_id: ProjectId.nullable(), occurred_at: Timestamp }
const ofTask = { project_id: ProjectId, task_id: TaskId, occurred_at: Timestamp }

/** Type → payload of every event. What changed travels whole, so that a client need not ask again. */
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
  /** It waits with a message that is new or was changed, or what it asks a person has changed. */
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
  /** A person's word, or 30 days: it can't be brought back any more. The task may have been deleted long before. */
  'rescue.given_up': z.object({ project_id: ProjectId, task_id: z.string(), ref: z.string(), occurred_at: Timestamp }),
  /** Heard only by the one who marked them (null: the local operator), wherever else they look. */
  'diff.viewed': z.object({
    ...ofTask,
    user_id: UserId.nullable(),
    files: z.array(ViewedContent),
    viewed: z.boolean(),
  }),
  /** The lane of one branch: who waits, who is tested, what is known of its tip. */
  'landing.updated': z.object({ project_id: ProjectId, lane: LandingLane, occurred_at: Timestamp }),
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
  /** Heard only by the one who marked it (null: the local operator). `notification_id` is null for all of the project. */
  'notification.read': z.object({
    project_id: ProjectId,
    user_id: UserId.nullable(),
    notification_id: NotificationId.nullable(),
    read: z.boolean(),
    occurred_at: Timestamp,
  }),
  /** By somebody; those of a deleted task or project go with it, and that is told once. */
  'notification.deleted': z.object({ ...ofTask, notification_id: NotificationId }),
  /** `entry` is null when it was forgotten. */
  'knowledge.updated': z.object({
    project_id: ProjectId,
    knowledge_id: KnowledgeId,
    entry: KnowledgeEntry.nullable(),
    occurred_at: Timestamp,
  }),
  /** `template` is null when it was deleted. */
  'task_template.updated': z.object({
    project_id: ProjectId,
    template_id: TaskTemplateId,
    template: TaskTemplate.nullable(),
    occurred_at: Timestamp,
  }),
  /** Someone has moved a run that waits; `projects.queue` has the new order. */
  'queue.updated': z.object({ project_id: ProjectId, occurred_at: Timestamp }),
  /** `integration` is null when it was deleted. */
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
  /** `member` is null when they were taken out; they hear that too. */
  'member.updated': z.object({
    project_id: ProjectId,
    user_id: UserId,
    member: Member.nullable(),
    occurred_at: Timestamp,
  }),
  /** Heard by its owner and by admins; a mere sign of life is no news. `daemon` is null when it was revoked. */
  'daemon.updated': z.object({ ...base, daemon_id: DaemonId, daemon: Daemon.nullable() }),
  /** Heard by admins and by the person themself. */
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

/** What a card shows of a running agent. Not numbered and not kept: the next one replaces it. */
export const Activity = z.object({
  project_id: ProjectId,
  task_id: TaskId,
  execution_id: ExecutionId,
  text: z.string(),
  quiet_since: Timestamp.nullable().describe('Since when nothing was heard of it, once that is long.'),
  occurred_at: Timestamp,
})
export type Activity = z.infer<typeof Activity>

/** Files of a worktree that somebody watches (`tasks.watch_diff`) have changed. Not numbered and not kept. */
export const WorktreeChange = z.object({ project_id: ProjectId, task_id: TaskId, occurred_at: Timestamp })
export type WorktreeChange = z.infer<typeof WorktreeChange>

/** A hook of a task has begun, or has said more (`tasks.hook_runs`). Not numbered and not kept. */
export const HookActivity = z.object({
  project_id: ProjectId,
  task_id: TaskId,
  log_name: z.string(),
  occurred_at: Timestamp,
})
export type HookActivity = z.infer<typeof HookActivity>

/**
 * What flows through an event subscription. `begun`, always the first: what happens after `seq` is told from here on.
 * `reset`: the asked-for past is gone, load everything anew.
 */
export type FeedItem =
  | { readonly kind: 'begun'; readonly seq: number }
  | { readonly kind: 'event'; readonly event: EventEnvelope }
  | { readonly kind: 'activity'; readonly activity: Activity }
  | { readonly kind: 'worktree'; readonly change: WorktreeChange }
  | { readonly kind: 'hook'; readonly hook: HookActivity }
  | { readonly kind: 'reset'; readonly seq: number }

/** What flows through an execution's stream: an entry with its line number, or the end. */
export const TranscriptItem = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('entry'), index: z.int(), entry: TranscriptEntry }),
  z.object({ kind: z.literal('end') }),
])
export type TranscriptItem = z.infer<typeof TranscriptItem>
