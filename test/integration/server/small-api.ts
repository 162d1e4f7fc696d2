import { v7 } from 'uuid'
import type { Api, CallContext } from '../../../src-main/api/api.ts'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { FeedItem, TranscriptItem } from '../../../src-shared/contract/events.ts'
import type { Execution } from '../../../src-shared/contract/executions.ts'
import { ExecutionId, ProjectId, RepoId, TaskId } from '../../../src-shared/contract/ids.ts'
import { operations } from '../../../src-shared/contract/operations.ts'
import type { OperationName, OperationOutput, OperationRequest } from '../../../src-shared/contract/operations.ts'
import type { Project } from '../../../src-shared/contract/projects.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { WebhookDelivery } from '../../../src-main/platform/text/webhook-signature.ts'
import { sourceOf } from '../../../src-main/api/source-of.ts'
import type { Identity } from '../../../src-main/identity/create-identity.ts'

const at = '2026-11-21T09:30:00.000Z'

type Handlers = {
  [N in OperationName]?: (
    input: OperationRequest<N>,
    context: CallContext,
  ) => OperationOutput<N> | Promise<OperationOutput<N>>
}

export interface SmallApi extends Api {
  readonly projects: Project[]
  readonly tasks: Task[]
  readonly executions: Execution[]
  /** Every call that reached a handler. */
  readonly calls: { name: OperationName; input: unknown; context: CallContext }[]
  /** Replaces or adds a handler. */
  handle<N extends OperationName>(name: N, handler: NonNullable<Handlers[N]>): void
  /** What came by webhooks; `signed` says which of them are. */
  readonly webhooks: { readonly integration_id: string; readonly body: string }[]
  signed: (delivery: WebhookDelivery) => boolean
  feed: (after: number | null, signal: AbortSignal) => AsyncIterable<FeedItem>
  lines: (from: number, signal: AbortSignal) => AsyncIterable<TranscriptItem>
  addProject(name: string): Project
  addTask(project: Project, status: string): Task
  addExecution(task: Task, executor: Execution['executor']): Execution
}

/** A small working implementation of some operations, in memory, over a real identity. */
export function createSmallApi(identity: Identity): SmallApi {
  const handlers: Handlers = createHandlers(identity, () => api)
  const api: SmallApi = {
    projects: [],
    tasks: [],
    executions: [],
    calls: [],
    handle: (name, handler) => Object.assign(handlers, { [name]: handler }),
    webhooks: [],
    signed: () => true,
    feed: async function* () {},
    lines: async function* () {},
    addProject: (name) => added(api.projects, newProject(name)),
    addTask: (project, status) => added(api.tasks, newTask(project.id, status)),
    addExecution: (task, executor) => {
      const execution = added(api.executions, newExecution(task.id, executor))
      task.active_execution_id = execution.id
      return execution
    },
    admit: () => undefined,
    webhook: (integration_id, delivery) => {
      if (!api.signed(delivery)) throw new ApiError({ code: 'invalid_token', message: 'Sign it.' })
      api.webhooks.push({ integration_id, body: Buffer.from(delivery.body).toString('latin1') })
    },
    call: async (name, input, context) => {
      const parsed = operations[name].input.safeParse(input)
      if (!parsed.success) {
        const issues = parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }))
        throw new ApiError({ code: 'validation_failed', message: 'Correct the input.', details: { issues } })
      }
      api.calls.push({ name, input: parsed.data, context })
      const handler = handlers[name] as ((input: unknown, context: CallContext) => unknown) | undefined
      if (!handler) throw notFound('operation')
      return handler(parsed.data, context)
    },
    events: (input, after, context) => {
      const parsed = operations['projects.get'].input.partial().safeParse(input)
      if (!parsed.success) throw new ApiError({ code: 'validation_failed', message: 'Correct project_id.' })
      return api.feed(after, context.signal)
    },
    transcript: async function* (input, from, context) {
      const { execution_id } = operations['executions.get'].input.parse(input)
      if (!api.executions.some(({ id }) => id === execution_id)) throw notFound('execution')
      yield* api.lines(from, context.signal)
    },
  }
  return api
}

function createHandlers(identity: Identity, get: () => SmallApi): Handlers {
  const task = (id: string) => found(get().tasks, id, 'task')
  return {
    'auth.register': (input, call) => identity.register(input, sourceOf(call)),
    'auth.login': (input, call) => identity.login(input, sourceOf(call)),
    'auth.local': ({ code }) => identity.localSignIn(code),
    'auth.logout': ({ refresh_token }, call) => {
      identity.logout(refresh_token, sourceOf(call))
      return null
    },
    'projects.list': () => ({ items: get().projects }),
    'projects.get': ({ project_id }) => found(get().projects, project_id, 'project'),
    'projects.get_workflow': () => workflow,
    'tasks.list': ({ project_id, status, limit }) => ({
      items: get()
        .tasks.filter((item) => item.project_id === project_id && (status ?? item.status) === item.status)
        .slice(0, limit),
      has_more: false,
      next_cursor: null,
    }),
    'tasks.create': ({ project_id, title, description }) => {
      const project = found(get().projects, project_id, 'project')
      return Object.assign(get().addTask(project, 'backlog'), { title, description: description ?? null })
    },
    'tasks.get': ({ task_id }) => task(task_id),
    'tasks.cancel': ({ task_id }) => ({ task: Object.assign(task(task_id), { status: 'cancelled' }) }),
    'tasks.delete': ({ task_id }) => {
      get().tasks.splice(get().tasks.indexOf(task(task_id)), 1)
      return null
    },
    'tasks.transition': ({ task_id, status, version }) => {
      if (task(task_id).version !== version) throw new ApiError({ code: 'version_conflict', message: 'Read it again.' })
      return { task: Object.assign(task(task_id), { status, version: version + 1 }) }
    },
    'executions.get': ({ execution_id }) => found(get().executions, execution_id, 'execution'),
    'executions.finish': ({ execution_id, status }) => {
      const execution = Object.assign(found(get().executions, execution_id, 'execution'), { status })
      return { execution, task: Object.assign(task(execution.task_id), { status: 'review' }) }
    },
    'executions.heartbeat': ({ execution_id }) => ({
      execution: found(get().executions, execution_id, 'execution'),
      action: 'continue',
    }),
  }
}

const notFound = (resource: string) =>
  new ApiError({ code: 'not_found', message: `This ${resource} doesn't exist.`, details: { resource } })

function found<T extends { id: string }>(list: readonly T[], id: string, resource: string): T {
  const item = list.find((one) => one.id === id)
  if (!item) throw notFound(resource)
  return item
}

function added<T>(list: T[], item: T): T {
  list.push(item)
  return item
}

const workflow: OperationOutput<'projects.get_workflow'> = {
  roles: [{ name: 'coder', label: 'Coder' }],
  states: [
    { name: 'backlog', kind: 'backlog', column: 'Backlog', label: 'Backlog', transitions: [] },
    {
      name: 'in_progress',
      kind: 'active',
      column: 'Doing',
      label: 'Doing',
      transitions: [{ to: 'review', label: 'Submit', audience: 'all' }],
    },
    { name: 'review', kind: 'gate', column: 'Review', label: 'Review', transitions: [] },
  ],
}

function newProject(name: string): Project {
  return {
    id: ProjectId.parse(v7()),
    name,
    key: 'SHO',
    owner_id: null,
    paused_at: null,
    workflow_definition: '',
    repos: [],
    imports_issues: false,
    created_at: at,
    updated_at: at,
  }
}

function newTask(project_id: ProjectId, status: string): Task {
  return {
    id: TaskId.parse(v7()),
    project_id,
    number: 42,
    ref: 'SHO-42',
    repo_id: RepoId.parse(v7()),
    parent_id: null,
    subtask_mode: null,
    title: 'Write it',
    description: null,
    status,
    version: 1,
    entry_barrier: false,
    review_config: { ci_steps: [], review_prompt: null },
    roles: {},
    dependencies: [],
    labels: [],
    priority: 0,
    position: 1,
    review_passed_at: null,
    error_annotation: null,
    external_issue_number: null,
    external_issue_url: null,
    archived: false,
    active_execution_id: null,
    created_under: null,
    start_when_ready: null,
    stacked_on: null,
    review_summary: null,
    diff_stat: null,
    port_base: null,
    overlaps: [],
    reverts: null,
    merged: null,
    base_conflict: null,
    pull_request: null,
    created_at: at,
    updated_at: at,
  }
}

function newExecution(task_id: TaskId, executor: Execution['executor']): Execution {
  return {
    id: ExecutionId.parse(v7()),
    task_id,
    role: 'coder',
    agent_id: null,
    user_id: null,
    executor,
    status: 'running',
    exit_code: null,
    prompt: '',
    session_id: null,
    usage: null,
    error: null,
    summary: null,
    runner_id: null,
    attempt: 1,
    link: null,
    started_at: at,
    finished_at: null,
    last_heartbeat_at: null,
    created_at: at,
  }
}
