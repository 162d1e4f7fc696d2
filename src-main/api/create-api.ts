import { ApiError, type Refusal } from '../../src-shared/contract/errors.ts'
import type { FeedItem, TranscriptItem } from '../../src-shared/contract/events.ts'
import type {
  AgentId,
  AttachmentId,
  CommentId,
  DaemonId,
  ExecutionId,
  KnowledgeId,
  ProjectId,
  TaskId,
  TaskTemplateId,
} from '../../src-shared/contract/ids.ts'
import type { CallerRule } from '../../src-shared/contract/operation.ts'
import { operations, streams, type OperationName } from '../../src-shared/contract/operations.ts'
import { parseInput } from '../../src-shared/contract/parse-input.ts'
import { checkAccess, checkToken, type AccessFacts } from '../domain/access/policy.ts'
import { isAdmin, type Principal } from '../domain/access/principal.ts'
import { createRecordLimits } from './record-limits.ts'
import { isTaskOfRun } from './run-task.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import type { Queries } from '../ports/store.ts'
import type { Api, CallContext } from './api.ts'
import type { ApiParts, Handler, Handlers } from './context.ts'
import { toApiError } from './errors.ts'
import { visibleTo } from './visible-events.ts'
import {
  findAttachment,
  findComment,
  findDaemon,
  findExecution,
  findKnowledge,
  findProject,
  findTask,
  findTaskTemplate,
} from './find.ts'
import { createAgentHandlers } from './handlers/agents.ts'
import { createAttachmentHandlers } from './handlers/attachments.ts'
import { createBoardHandlers } from './handlers/board.ts'
import { createCommentHandlers } from './handlers/comments.ts'
import { createDaemonHandlers } from './handlers/daemons.ts'
import { createDemoHandlers } from './demo/create-demo.ts'
import { createDiffHandlers } from './handlers/diffs.ts'
import { createDependencyHandlers } from './handlers/dependencies.ts'
import { createExecutionHandlers } from './handlers/executions.ts'
import { createFirstScreenHandlers } from './handlers/first-screen.ts'
import { createHookHandlers } from './handlers/hooks.ts'
import { createKnowledgeHandlers } from './handlers/knowledge.ts'
import { createIntegrationHandlers } from './handlers/integrations.ts'
import { createMemberHandlers } from './handlers/members.ts'
import { createLandingHandlers } from './handlers/landing.ts'
import { createOverlapHandlers } from './handlers/overlaps.ts'
import { createMergeHandlers } from './handlers/merges.ts'
import { createNotificationHandlers } from './handlers/notifications.ts'
import { createTemplateHandlers } from './handlers/templates.ts'
import { createIdentityHandlers } from './handlers/identity.ts'
import { createProjectHandlers } from './handlers/projects.ts'
import { createPromptHandlers } from './handlers/prompts.ts'
import { createPullRequestHandlers } from './handlers/pull-requests.ts'
import { createQueueHandlers } from './handlers/queue.ts'
import { createRepoHandlers } from './handlers/repos.ts'
import { createRunnerHandlers } from './handlers/runners.ts'
import { createTaskHandlers } from './handlers/tasks.ts'
import { createWorkspaceHandlers } from './handlers/workspaces.ts'
import { createTaskTemplateHandlers } from './handlers/task-templates.ts'
import { createTaskReads } from './handlers/task-reads.ts'

/** Creates the API: it parses, checks existence and rights, then calls the handler. */
export function createApi(parts: ApiParts): Api {
  // For handlers that call others.
  const call: Api['call'] = (...asked) => api.call(...asked)
  const handlers: Handlers = {
    ...createIdentityHandlers(parts),
    ...createProjectHandlers(parts),
    ...createRepoHandlers(parts),
    ...createMemberHandlers(parts),
    ...createAgentHandlers(parts),
    ...createDaemonHandlers(parts),
    ...createRunnerHandlers(parts),
    ...createTaskHandlers(parts),
    ...createTaskReads(parts),
    ...createTaskTemplateHandlers(parts),
    ...createBoardHandlers(parts),
    ...createDiffHandlers(parts),
    ...createExecutionHandlers(parts),
    ...createTemplateHandlers(parts),
    ...createCommentHandlers(parts),
    ...createAttachmentHandlers(parts),
    ...createDependencyHandlers(parts),
    ...createKnowledgeHandlers(parts),
    ...createNotificationHandlers(parts),
    ...createWorkspaceHandlers(parts),
    ...createMergeHandlers(parts),
    ...createLandingHandlers(parts),
    ...createOverlapHandlers(parts),
    ...createIntegrationHandlers(parts),
    ...createPullRequestHandlers(parts),
    ...createHookHandlers(parts),
    ...createQueueHandlers(parts),
    ...createPromptHandlers(parts),
    ...createDemoHandlers({ ...parts, call }),
    ...createFirstScreenHandlers({ call }),
  }
  const { read } = parts.store
  const limitRecords = createRecordLimits(parts.clock)
  const api: Api = {
    admit,
    call: async (name, input, context) => {
      const { input: schema, who, method } = operations[name]
      admit(who, context.principal, method !== 'GET' && who !== 'public')
      const request = parseInput(schema, input)
      authorise(read, who, request, context.principal)
      limitRecords(name, request, context.principal)
      if (makers.has(name) || movesRepository(name, request)) refuseMakers(parts, context.principal)
      const handler = handlers[name] as unknown as Handler<'tasks.get'>
      const takeBack = noteWord(parts, name, request, context.principal)
      try {
        return await handler(request as never, context)
      } catch (error) {
        takeBack()
        throw toApiError(error)
      }
    },
    events: (input, after, context) => {
      const request = parseInput(streams['events.stream'].input, input)
      authorise(read, 'anyone', request, context.principal)
      if (request.project_id !== undefined) authorise(read, 'member', request, context.principal)
      return parts.feed.subscribe(after, visibleTo(read, context.principal, request.project_id ?? null), context.signal)
    },
    transcript: (input, from, context) => transcript(parts, input, from, context),
    webhook: (integration_id, delivery) => {
      const project_id = parts.integrations.receive(integration_id, delivery)
      if (project_id === null) throw new ApiError(notSigned)
      parts.engine.pullRequests.pollSoon(project_id)
    },
  }
  return api
}

const notSigned: Refusal = {
  code: 'invalid_token',
  message:
    "This webhook isn't signed with the project's secret. Enter the same one at the forge and in the variable that webhook_secret_ref names.",
}

/** Follows a run's transcript until the run has ended; one that is queued begins later. */
async function* untilEnded(
  { store, logs, feed }: ApiParts,
  { id, task_id }: Pick<ExecutionRecord, 'id' | 'task_id'>,
  from: number,
  signal: AbortSignal,
): AsyncIterable<TranscriptItem> {
  const statusOf = () => store.read.executions.get(id)?.status
  let next = from
  while (!signal.aborted) {
    const status = statusOf()
    for await (const item of logs.follow(task_id, id, next, { signal })) {
      if (item.kind === 'end') break
      next = item.index + 1
      yield item
    }
    if (signal.aborted) return
    if (status !== 'queued' && status !== 'running') {
      yield { kind: 'end' }
      return
    }
    const isNews = (item: FeedItem): boolean =>
      item.kind === 'event' &&
      (item.event.type === 'execution.started' || item.event.type === 'execution.finished') &&
      item.event.data.execution.id === id
    const waiting = new AbortController()
    const until = AbortSignal.any([signal, waiting.signal])
    for await (const item of feed.subscribe(null, (one) => one.kind === 'begun' || isNews(one), until)) {
      // The status may have changed before the subscription began.
      if (isNews(item) || statusOf() !== status) waiting.abort()
    }
  }
}

function transcript(
  parts: ApiParts,
  input: unknown,
  from: number,
  context: CallContext,
): AsyncIterable<TranscriptItem> {
  const request = parseInput(streams['executions.stream'].input, input)
  authorise(parts.store.read, 'member', request, context.principal)
  const execution = findExecution(parts.store.read, request.execution_id)
  return untilEnded(parts, execution, from, context.signal)
}

/**
 * The resources that a request names. An operation whose input uses one of these keys for anything else does not
 * compile.
 */
type Scope = Readonly<Record<string, unknown>> & {
  readonly project_id?: ProjectId | undefined
  readonly task_id?: TaskId | undefined
  readonly execution_id?: ExecutionId | undefined
  readonly comment_id?: CommentId | undefined
  readonly knowledge_id?: KnowledgeId | undefined
  readonly attachment_id?: AttachmentId | undefined
  readonly template_id?: TaskTemplateId | undefined
  /** `self`: the daemon of the token. */
  readonly daemon_id?: DaemonId | 'self' | undefined
  readonly agent_id?: AgentId | undefined
}

/** Operations that give the service a folder to work in or a program to start. */
const makers: ReadonlySet<OperationName> = new Set([
  ...(['projects.create', 'repos.add', 'agents.create', 'demo.create'] as const),
])

const movesRepository = (name: OperationName, request: Readonly<Record<string, unknown>>) =>
  name === 'repos.update' && request['path'] !== undefined

/** Refuses operations that are reserved for admins, as on a service that others can reach. */
function refuseMakers({ config }: ApiParts, principal: Principal): void {
  if (config.projectCreators === 'all' || isAdmin(principal)) return
  const message = 'Only an admin makes projects, repositories and agents here (SVC_PROJECT_CREATORS).'
  throw new ApiError({ code: 'admin_required', message })
}

/** Operations of runs after which an agent may start on the task, at once or later. */
const starters: ReadonlySet<OperationName> = new Set([
  ...(['tasks.claim', 'tasks.start_when_ready', 'tasks.transition', 'tasks.verdict', 'tasks.recover'] as const),
  ...(['tasks.assign_role', 'tasks.update_branch', 'tasks.update', 'tasks.unarchive'] as const),
])

/** Operations of people that say that an agent may start on the task. */
const words: ReadonlySet<OperationName> = new Set([
  ...(['tasks.claim', 'tasks.start_when_ready', 'tasks.transition', 'tasks.verdict', 'tasks.recover'] as const),
  ...(['tasks.assign_role', 'tasks.update_branch', 'tasks.feedback'] as const),
])

/**
 * Remembers on whose word a task goes on, before the request may start something: what a contained run asks for is held
 * to that run's containment, until a person asks. Returns a function that takes it back.
 */
function noteWord({ engine }: ApiParts, name: OperationName, request: Scope, principal: Principal): () => void {
  const nothing = (): void => undefined
  const { task_id, agent_id } = request
  if (task_id === undefined) return nothing
  if (principal.kind !== 'agent') return words.has(name) ? engine.authority.free(task_id) : nothing
  if (!starters.has(name)) return nothing
  const refusal = engine.authority.refusal(principal.execution_id, agent_id ?? principal.agent_id)
  if (refusal) throw new ApiError(refusal)
  return engine.authority.hold(task_id, principal.execution_id)
}

function admit(rule: CallerRule, principal: Principal, writes: boolean): void {
  const refusal = checkToken(rule, principal, writes)
  if (refusal) throw new ApiError(refusal)
}

/** Checks existence before rights: a caller without access learns only that an ID does not exist. */
function authorise(q: Queries, rule: CallerRule, request: Scope, principal: Principal): void {
  const facts: AccessFacts = rule === 'public' ? { project: null } : factsOf(q, request, principal)
  const refusal = checkAccess(rule, principal, facts)
  if (refusal) throw new ApiError(refusal)
}

function factsOf(q: Queries, scope: Scope, principal: Principal): AccessFacts {
  const facts = projectFacts(q, scope, principal)
  return scope.daemon_id === undefined || scope.daemon_id === 'self'
    ? facts
    : { ...facts, daemon: findDaemon(q, scope.daemon_id).id }
}

function projectFacts(q: Queries, scope: Scope, principal: Principal): Pick<AccessFacts, 'project' | 'other_task'> {
  const execution = scope.execution_id === undefined ? null : findExecution(q, scope.execution_id)
  const comment = scope.comment_id === undefined ? null : findComment(q, scope.comment_id)
  const knowledge = scope.knowledge_id === undefined ? null : findKnowledge(q, scope.knowledge_id)
  const attachment = scope.attachment_id === undefined ? null : findAttachment(q, scope.attachment_id)
  const template = scope.template_id === undefined ? null : findTaskTemplate(q, scope.template_id)
  const task_id = scope.task_id ?? execution?.task_id ?? comment?.task_id
  const task = task_id === undefined ? null : findTask(q, task_id)
  const { project_id } = scope.project_id === undefined ? (task ?? knowledge ?? attachment ?? template ?? {}) : scope
  if (project_id === undefined) return { project: null }
  const { id, owner_id } = findProject(q, project_id)
  const role = principal.kind === 'user' ? q.members.role(id, principal.user_id) : null
  const other_task = task !== null && principal.kind === 'agent' && !isTaskOfRun(q, principal, task)
  return { project: { id, owner_id, role }, other_task }
}
