import { ApiError } from '../../../src-shared/contract/errors.ts'
import { AgentId, type ExecutionId, type ProjectId, type TaskId } from '../../../src-shared/contract/ids.ts'
import { operations } from '../../../src-shared/contract/operations.ts'
import type { OperationInput, OperationName, OperationOutput } from '../../../src-shared/contract/operations.ts'
import type { Api, CallContext } from '../../api/api.ts'

/** Who calls, and how long they wait for the answer. */
export interface McpCaller extends Omit<CallContext, 'signal'> {
  /** Aborted when the caller has hung up or cancelled, or the server ends. */
  readonly gone: AbortSignal
  /** Aborted when the server has to end what is still under way. */
  readonly lifetime: AbortSignal
}

/** One caller's view of the API, and what its tools may leave out. */
export interface McpScope {
  /** Aborted when the caller wants no answer any more. */
  readonly gone: AbortSignal
  /** Whether the caller's token is any good for an operation, before its arguments are looked at. Throws `ApiError`. */
  admit(name: OperationName): void
  call<N extends OperationName>(name: N, input: OperationInput<N>): Promise<OperationOutput<N>>
  /** The named project, else that of the caller's execution, else the caller's only one; else a refusal that lists them. */
  projectId(given: ProjectId | undefined): Promise<ProjectId>
  /** The named task, else that of the caller's execution. */
  taskId(given: TaskId | undefined): TaskId
  /** The named execution, else the caller's own. */
  executionId(given: ExecutionId | undefined): ExecutionId
  /** The agent with this id or name; nobody where none is named. A name that there is not is a refusal that lists them. */
  agent(given: string | undefined): Promise<{ agent_id?: AgentId }>
}

/** Binds the API to one caller. */
export function createMcpScope(api: Api, { principal, remote_address, gone, lifetime }: McpCaller): McpScope {
  const bound = principal.kind === 'agent' ? principal : null
  const call: McpScope['call'] = async (name, input) => {
    // Whoever asks for a change and leaves still gets it; only reading stops.
    const signal = operations[name].method === 'GET' ? gone : lifetime
    return (await api.call(name, input, { principal, remote_address, signal })) as never
  }
  return {
    gone,
    admit: (name) => api.admit(operations[name].who, principal, operations[name].method !== 'GET'),
    call,
    projectId: async (given) => {
      if (given !== undefined) return given
      if (bound) return bound.project_id
      const { items } = await call('projects.list', {})
      const [only, ...others] = items
      if (only && others.length === 0) return only.id
      throw choose('project', items)
    },
    taskId: (given) => {
      const id = given ?? bound?.task_id
      if (id === undefined) throw missing('task_id', 'Say which task; svc_list_tasks lists them.')
      return id
    },
    executionId: (given) => {
      const id = given ?? bound?.execution_id
      if (id === undefined)
        throw missing('execution_id', 'Say which execution; a task names it as active_execution_id.')
      return id
    },
    agent: async (given) => {
      if (given === undefined) return {}
      const id = AgentId.safeParse(given)
      if (id.success) return { agent_id: id.data }
      const { items } = await call('agents.list', {})
      const [only, ...others] = items.filter(({ name }) => name.toLowerCase() === given.toLowerCase())
      if (only && others.length === 0) return { agent_id: only.id }
      throw choose('agent', only ? [only, ...others] : items)
    },
  }
}

/** Says what there is to choose from, in words and in `details`. */
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
