import { ApiError } from '../../../src-shared/contract/errors.ts'
import { AgentId, ExecutionId, ProjectId, TaskId } from '../../../src-shared/contract/ids.ts'
import type { FeedItem } from '../../../src-shared/contract/events.ts'
import { operations } from '../../../src-shared/contract/operations.ts'
import type { OperationInput, OperationName, OperationOutput } from '../../../src-shared/contract/operations.ts'
import type { Api, CallContext } from '../../api/api.ts'

/** The caller, and how long they wait for the response. */
export interface McpCaller extends Omit<CallContext, 'signal'> {
  /** Aborted when the caller has hung up or cancelled, or the server closes. */
  readonly gone: AbortSignal
  /** Aborted when the server must end running requests. */
  readonly lifetime: AbortSignal
}

/** One caller's view of the API, with defaults for omitted arguments. */
export interface McpScope {
  /** Aborted when the caller no longer wants a response. */
  readonly gone: AbortSignal
  /** Checks the caller's token for an operation before its arguments are read. Throws `ApiError`. */
  admit(name: OperationName): void
  call<N extends OperationName>(name: N, input: OperationInput<N>): Promise<OperationOutput<N>>
  /** The caller is a person's client, which may answer for them. */
  readonly isPerson: boolean
  /** Yields changes that the caller may see, from now on, until `signal` or `gone` aborts. */
  events(signal: AbortSignal): AsyncIterable<FeedItem>
  /**
   * Returns the named project, else that of the caller's execution, else the caller's only one; else throws a refusal
   * that lists them.
   */
  projectId(given: string | undefined): Promise<ProjectId>
  /** Returns the named task, else that of the caller's execution. */
  taskId(given: string | undefined): Promise<TaskId>
  /** Returns the named execution, else the caller's own. */
  executionId(given: string | undefined): Promise<ExecutionId>
  /** Returns the named execution, of the named task if given; else that task's active one. */
  runOf(task: string | undefined, execution: string | undefined): Promise<ExecutionId>
  /**
   * Returns the agent with this ID or name, or nothing if none is named. Throws a refusal that lists the agents for
   * an unknown name.
   */
  agent(given: string | undefined): Promise<{ agent_id?: AgentId }>
}

/** Binds the API to one caller. */
export function createMcpScope(api: Api, { principal, remote_address, gone, lifetime }: McpCaller): McpScope {
  const bound = principal.kind === 'agent' ? principal : null
  const call: McpScope['call'] = async (name, input) => {
    // A change completes even if the caller leaves; only reads stop.
    const signal = operations[name].method === 'GET' ? gone : lifetime
    return (await api.call(name, input, { principal, remote_address, signal })) as never
  }
  const taskId: McpScope['taskId'] = async (given) => {
    const named = given ?? bound?.task_id
    if (named === undefined) throw missing('task_id', 'Say which task; svc_list_tasks lists them.')
    const whole = TaskId.safeParse(named)
    if (whole.success) return whole.data
    const { items: projects } = await call('projects.list', {})
    const q = `id:${named}`
    const pages = await Promise.all(
      projects.map(({ id }) => call('tasks.list', { project_id: id, q, include_archived: true, limit: 3 })),
    )
    const found = pages.flatMap(({ items }) => items)
    const inBoundProject = found.filter(({ project_id }) => project_id === bound?.project_id)
    const [only, ...others] = inBoundProject.length === 1 ? inBoundProject : found
    if (only && others.length === 0) return only.id
    const list = found.map(({ ref, title }) => `${ref} (${title})`).join(', ')
    throw missing('task_id', only ? `Several tasks are called ${named}: ${list}.` : `No task ${named}.`)
  }
  const findExecution = async (given: string): Promise<ExecutionId> => {
    const whole = ExecutionId.safeParse(given)
    if (whole.success) return whole.data
    const { items: projects } = await call('projects.list', {})
    const queues = await Promise.all(projects.map(({ id }) => call('projects.queue', { project_id: id })))
    const open = queues.flatMap(({ running, waiting }) => [...running, ...waiting])
    return oneOf(
      given,
      open.map(({ execution_id }) => ({ id: execution_id })),
    )
  }
  return {
    gone,
    admit: (name) => api.admit(operations[name].who, principal, operations[name].method !== 'GET'),
    call,
    isPerson: principal.kind === 'user',
    events: (signal) =>
      api.events({}, null, { principal, remote_address, signal: AbortSignal.any([signal, gone, lifetime]) }),
    projectId: async (given) => {
      if (given === undefined && bound) return bound.project_id
      const whole = ProjectId.safeParse(given)
      if (whole.success) return whole.data
      const { items } = await call('projects.list', {})
      return pick('project', given === undefined ? items : matching(items, given), items).id
    },
    taskId,
    executionId: async (given) => {
      const id = given ?? bound?.execution_id
      if (id === undefined)
        throw missing('execution_id', 'Say which execution; a task names it as active_execution_id.')
      return findExecution(id)
    },
    runOf: async (task, execution) => {
      if (execution !== undefined && task === undefined) return findExecution(execution)
      const task_id = await taskId(task)
      if (execution !== undefined) return oneOf(execution, (await call('tasks.executions', { task_id })).items)
      const { active_execution_id } = await call('tasks.get', { task_id })
      if (active_execution_id !== null) return active_execution_id
      throw new ApiError({ code: 'execution_not_running', message: 'No run of this task is under way.' })
    },
    agent: async (given) => {
      if (given === undefined) return {}
      const id = AgentId.safeParse(given)
      if (id.success) return { agent_id: id.data }
      const { items } = await call('agents.list', {})
      return { agent_id: pick('agent', matching(items, given), items).id }
    },
  }
}

interface Named {
  readonly id: string
  readonly name: string
  readonly key?: string
}

/** Returns the items with this name or key; if there are none, the items whose ID contains the text. */
function matching<T extends Named>(items: readonly T[], text: string): readonly T[] {
  const lower = text.toLowerCase()
  const named = items.filter(({ name, key }) => name.toLowerCase() === lower || key?.toLowerCase() === lower)
  return named.length > 0 ? named : items.filter(({ id }) => isPartOf(id, lower))
}

/** Matches an ID shortened at either end, as people and Copse do. */
const isPartOf = (id: string, text: string): boolean =>
  text.length >= 4 && (id.startsWith(text) || id.endsWith(text) || id.replaceAll('-', '').endsWith(text))

function pick<T extends Named>(kind: 'project' | 'agent', found: readonly T[], all: readonly T[]): T {
  const [only, ...others] = found
  if (only && others.length === 0) return only
  throw choose(kind, only ? found : all)
}

function oneOf(text: string, runs: readonly { readonly id: ExecutionId }[]): ExecutionId {
  const [only, ...others] = runs.filter(({ id }) => id === text || isPartOf(id, text.toLowerCase()))
  if (only && others.length === 0) return only.id
  throw missing('execution_id', only ? `Several runs have ${text} in their ids. Give more of it.` : `No run ${text}.`)
}

/** Returns a refusal that lists the choices in its message and `details`. */
function choose(kind: 'project' | 'agent', items: readonly { readonly id: string; readonly name: string }[]): ApiError {
  const known = items.map(({ id, name }) => ({ id, name }))
  const message =
    known.length === 0
      ? `No ${kind} yet. Ask a person to create one.`
      : `Say which ${kind}: ${known.map(({ id, name }) => `${id} (${name})`).join(', ')}.`
  return missing(`${kind}_id`, message, { [`${kind}s`]: known })
}

function missing(path: string, message: string, details: Readonly<Record<string, unknown>> = {}): ApiError {
  return new ApiError({ code: 'validation_failed', message, details: { issues: [{ path, message }], ...details } })
}
