import { ApiError } from '../../src-shared/contract/errors.ts'
import type {
  AgentId,
  AttachmentId,
  CommentId,
  DaemonId,
  ExecutionId,
  KnowledgeId,
  ProjectId,
  RunnerId,
  TaskId,
  TaskTemplateId,
} from '../../src-shared/contract/ids.ts'
import { isRefusal, notFound } from '../domain/refusal.ts'
import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { AttachmentRecord } from '../ports/attachment-queries.ts'
import type { TaskTemplateRecord } from '../ports/task-template-queries.ts'
import type { AgentRecord, DaemonRecord } from '../ports/agent-queries.ts'
import type { CommentRecord } from '../ports/comment-queries.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import type { KnowledgeRecord } from '../ports/knowledge-queries.ts'
import type { ProjectRecord } from '../ports/project-queries.ts'
import type { RunnerRecord } from '../ports/runner-queries.ts'
import type { Queries } from '../ports/store.ts'
import type { TaskRecord } from '../ports/task-queries.ts'

/** Returns the record; throws `not_found` with what is missing. */
export function findProject(q: Queries, id: ProjectId): ProjectRecord {
  return q.projects.get(id) ?? throwNotFound('project')
}
export function findTask(q: Queries, id: TaskId): TaskRecord {
  return q.tasks.get(id) ?? throwNotFound('task')
}
export function findExecution(q: Queries, id: ExecutionId): ExecutionRecord {
  return q.executions.get(id) ?? throwNotFound('execution')
}
export function findAgent(q: Queries, id: AgentId): AgentRecord {
  return q.agents.get(id) ?? throwNotFound('agent')
}

export function findComment(q: Queries, id: CommentId): CommentRecord {
  return q.comments.get(id) ?? throwNotFound('comment')
}
export function findAttachment(q: Queries, id: AttachmentId): AttachmentRecord {
  return q.attachments.get(id) ?? throwNotFound('attachment')
}
export function findTaskTemplate(q: Queries, id: TaskTemplateId): TaskTemplateRecord {
  return q.task_templates.get(id) ?? throwNotFound('task_template')
}
export function findKnowledge(q: Queries, id: KnowledgeId): KnowledgeRecord {
  return q.knowledge.get(id) ?? throwNotFound('knowledge')
}

export function findRunner(q: Pick<Queries, 'runners'>, id: RunnerId): RunnerRecord {
  return q.runners.get(id) ?? throwNotFound('runner')
}

/** Throws `not_found` for a revoked daemon too. */
export function findDaemon(q: Queries, id: DaemonId): DaemonRecord {
  const daemon = q.daemons.get(id)
  return daemon?.revoked_at === null ? daemon : throwNotFound('daemon')
}

export function throwNotFound(resource: string): never {
  throw new ApiError(notFound(resource))
}

/** Returns an engine result; throws the `ApiError` of a refusal. */
export function unwrap<T extends object>(result: T | Refusal): T {
  if (isRefusal(result)) throw new ApiError(result)
  return result
}
