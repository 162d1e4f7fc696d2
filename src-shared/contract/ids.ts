import { z } from 'zod'

/** Every ID is a UUIDv7 string. The brand prevents passing a task's ID as a project's. */
const id = <B extends string>() => z.uuid().brand<B>()

export const UserId = id<'UserId'>()
export const ProjectId = id<'ProjectId'>()
export const RepoId = id<'RepoId'>()
export const TaskId = id<'TaskId'>()
export const AgentId = id<'AgentId'>()
export const ExecutionId = id<'ExecutionId'>()
export const DaemonId = id<'DaemonId'>()
/** `here` is this machine. */
export const RunnerId = z.union([z.literal('here'), z.uuid()]).brand<'RunnerId'>()
export const ReviewId = id<'ReviewId'>()
export const WorkspaceId = id<'WorkspaceId'>()
export const TransitionId = id<'TransitionId'>()
export const TokenId = id<'TokenId'>()
export const SessionId = id<'SessionId'>()
export const InviteId = id<'InviteId'>()
export const CommentId = id<'CommentId'>()
export const KnowledgeId = id<'KnowledgeId'>()
export const NotificationId = id<'NotificationId'>()
export const IntegrationId = id<'IntegrationId'>()
export const AttachmentId = id<'AttachmentId'>()
export const TaskTemplateId = id<'TaskTemplateId'>()
export const JobId = id<'JobId'>()

export type UserId = z.infer<typeof UserId>
export type ProjectId = z.infer<typeof ProjectId>
export type RepoId = z.infer<typeof RepoId>
export type TaskId = z.infer<typeof TaskId>
export type AgentId = z.infer<typeof AgentId>
export type ExecutionId = z.infer<typeof ExecutionId>
export type DaemonId = z.infer<typeof DaemonId>
export type RunnerId = z.infer<typeof RunnerId>
export type ReviewId = z.infer<typeof ReviewId>
export type WorkspaceId = z.infer<typeof WorkspaceId>
export type TransitionId = z.infer<typeof TransitionId>
export type TokenId = z.infer<typeof TokenId>
export type SessionId = z.infer<typeof SessionId>
export type InviteId = z.infer<typeof InviteId>
export type CommentId = z.infer<typeof CommentId>
export type KnowledgeId = z.infer<typeof KnowledgeId>
export type NotificationId = z.infer<typeof NotificationId>
export type IntegrationId = z.infer<typeof IntegrationId>
export type AttachmentId = z.infer<typeof AttachmentId>
export type TaskTemplateId = z.infer<typeof TaskTemplateId>
export type JobId = z.infer<typeof JobId>

/** ISO 8601, UTC, milliseconds: `2026-11-21T09:30:00.000Z`. */
export const Timestamp = z.iso.datetime({ precision: 3 })
export type Timestamp = z.infer<typeof Timestamp>
