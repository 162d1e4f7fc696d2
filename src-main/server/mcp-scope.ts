import type { z } from 'zod'
import { ApiError } from '../../src-shared/contract/errors.ts'
import type { OperationInput, OperationName, OperationOutput } from '../../src-shared/contract/operations.ts'
import type { Api, CallContext } from '../api/api.ts'

/** One caller's view of the API, and what its tools may leave out. */
export interface McpScope {
  call<N extends OperationName>(name: N, input: OperationInput<N>): Promise<OperationOutput<N>>
  /** The named project, else that of the caller's execution, else the caller's only one; else a refusal that lists them. */
  projectId(given: string | undefined): Promise<string>
  /** The named task, else that of the caller's execution. */
  taskId(given: string | undefined): string
  /** The named execution, else the caller's own. */
  executionId(given: string | undefined): string
}

/** Binds the API to one caller. */
export function createMcpScope(api: Api, context: CallContext): McpScope {
  const { principal } = context
  const bound = principal.kind === 'agent' ? principal : null
  const call: McpScope['call'] = async (name, input) => (await api.call(name, input, context)) as never
  return {
    call,
    projectId: async (given) => {
      if (given !== undefined) return given
      if (bound) return bound.project_id
      const { items } = await call('projects.list', {})
      const [only, ...others] = items
      if (only && others.length === 0) return only.id
      const projects = items.map(({ id, name }) => ({ id, name }))
      throw missing(
        'project_id',
        projects.length === 0
          ? 'There is no project yet. Make one first.'
          : `Say which project: ${projects.map(({ id, name }) => `${id} (${name})`).join(', ')}.`,
        { projects },
      )
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
  }
}

function missing(path: string, message: string, details: Readonly<Record<string, unknown>> = {}): ApiError {
  return new ApiError({ code: 'validation_failed', message, details: { issues: [{ path, message }], ...details } })
}

/** The arguments as the schema wants them; throws `validation_failed` in the API's own words. */
export function parseArguments<I extends z.ZodObject>(input: I, values: unknown): z.output<I> {
  const parsed = input.safeParse(values ?? {})
  if (parsed.success) return parsed.data
  const issues = parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }))
  const first = issues[0]
  throw new ApiError({
    code: 'validation_failed',
    message: first ? `${first.path || 'arguments'}: ${first.message}` : 'The arguments do not fit.',
    details: { issues },
  })
}
