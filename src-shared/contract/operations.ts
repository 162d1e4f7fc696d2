import { z } from 'zod'
import { ExecutionId, ProjectId } from './ids.ts'
import type { CallerRule, OperationSpec } from './operation.ts'
import { attachmentsOperations } from './operations/attachments.ts'
import { identityOperations } from './operations/identity.ts'
import { projectsOperations } from './operations/projects.ts'
import { agentsOperations } from './operations/agents.ts'
import { taskTemplatesOperations } from './operations/task-templates.ts'
import { tasksOperations } from './operations/tasks.ts'
import { taskRecordsOperations } from './operations/task-records.ts'
import { daemonsOperations } from './operations/daemons.ts'
import { diffsOperations } from './operations/diffs.ts'
import { firstScreenOperations } from './operations/first-screen.ts'
import { executionsOperations } from './operations/executions.ts'
import { templatesOperations } from './operations/templates.ts'
import { commentsOperations } from './operations/comments.ts'
import { knowledgeOperations } from './operations/knowledge.ts'
import { hooksOperations } from './operations/hooks.ts'
import { integrationsOperations } from './operations/integrations.ts'
import { pullRequestsOperations } from './operations/pull-requests.ts'
import { landingOperations } from './operations/landing.ts'
import { overlapOperations } from './operations/overlaps.ts'
import { membersOperations } from './operations/members.ts'
import { mergesOperations } from './operations/merges.ts'
import { notificationsOperations } from './operations/notifications.ts'
import { promptsOperations } from './operations/prompts.ts'
import { queueOperations } from './operations/queue.ts'
import { reposOperations } from './operations/repos.ts'
import { runnersOperations } from './operations/runners.ts'
import { workspacesOperations } from './operations/workspaces.ts'

/**
 * THE contract: operation name → input, output and refusals. REST routes, IPC, MCP tools, the typed client, the CLI
 * and `openapi.json` are generated from this table.
 */
export const operations = {
  ...identityOperations,
  ...projectsOperations,
  ...firstScreenOperations,
  ...reposOperations,
  ...membersOperations,
  ...agentsOperations,
  ...daemonsOperations,
  ...runnersOperations,
  ...tasksOperations,
  ...taskRecordsOperations,
  ...taskTemplatesOperations,
  ...diffsOperations,
  ...executionsOperations,
  ...promptsOperations,
  ...queueOperations,
  ...templatesOperations,
  ...commentsOperations,
  ...attachmentsOperations,
  ...knowledgeOperations,
  ...notificationsOperations,
  ...integrationsOperations,
  ...pullRequestsOperations,
  ...workspacesOperations,
  ...mergesOperations,
  ...landingOperations,
  ...overlapOperations,
  ...hooksOperations,
} as const satisfies Record<string, OperationSpec>

/** Endless responses: SSE over HTTP, pushes over IPC. */
export const streams = {
  'events.stream': {
    path: '/events',
    who: 'anyone',
    summary: 'Every change, numbered; `Last-Event-ID` resumes without loss.',
    input: z.object({ project_id: ProjectId.optional() }),
  },
  'executions.stream': {
    path: '/executions/{execution_id}/stream',
    who: 'member',
    summary: 'The transcript as it grows, from `Last-Event-ID` on.',
    input: z.object({ execution_id: ExecutionId }),
  },
} as const satisfies Record<string, { path: `/${string}`; who: CallerRule; summary: string; input: z.ZodObject }>

export type OperationName = keyof typeof operations
/** Input as a client sends it: IDs are plain strings, defaults may be omitted. */
export type OperationInput<N extends OperationName> = z.input<(typeof operations)[N]['input']>
/** Input as a handler receives it after parsing. */
export type OperationRequest<N extends OperationName> = z.output<(typeof operations)[N]['input']>
export type OperationOutput<N extends OperationName> = z.output<(typeof operations)[N]['output']>
export type StreamName = keyof typeof streams
export type StreamInput<N extends StreamName> = z.input<(typeof streams)[N]['input']>
