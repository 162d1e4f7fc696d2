import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from '@modelcontextprotocol/server'
import type {
  ListResourcesResult,
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
} from '@modelcontextprotocol/server'
import { TaskId } from '../../../src-shared/contract/ids.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { Diff } from '../../../src-shared/contract/workspaces.ts'
import type { Logger } from '../../platform/logging/log.ts'
import { toApiError } from '../http-errors.ts'
import type { McpScope } from './scope.ts'

/** Returns the MCP address of a task. */
export const taskUri = (task_id: string) => `copse://tasks/${task_id}`
/** Returns the MCP address of a task's diff. */
export const diffUri = (task_id: string) => `${taskUri(task_id)}/diff`

const json = 'application/json'
const patch = 'text/x-diff'

/** Number of listed tasks; others can be read by their address. */
const maxTasks = 200

/** Address templates of readable resources. */
export const resourceTemplates: readonly ResourceTemplateType[] = [
  {
    name: 'task',
    uriTemplate: taskUri('{task_id}'),
    title: 'Task',
    description: 'A task, as svc_get_task answers it.',
    mimeType: json,
  },
  {
    name: 'task_diff',
    uriTemplate: diffUri('{task_id}'),
    title: 'Diff of a task',
    description: "All that a task has changed since it left its base, committed or not, as git's unified patch.",
    mimeType: patch,
  },
]

/** Returns the task or diff at an address, if the caller may see it. */
export async function readResource(scope: McpScope, uri: string, log: Logger): Promise<ReadResourceResult> {
  const [, id, part] = /^copse:\/\/tasks\/([^/]+)(\/diff)?$/.exec(uri) ?? []
  const task_id = TaskId.safeParse(id)
  if (!task_id.success) throw new ResourceNotFoundError(uri)
  try {
    if (part === undefined) {
      const task = await scope.call('tasks.get', { task_id: task_id.data })
      return { contents: [{ uri, mimeType: json, text: JSON.stringify(task, null, 2) }] }
    }
    const diff = await scope.call('tasks.diff', { task_id: task_id.data, scope: 'branch' })
    return { contents: [{ uri, mimeType: patch, text: patchOf(diff) }] }
  } catch (error) {
    throw toProtocolError(error, log, uri)
  }
}

/**
 * Lists the most recently changed tasks of all projects and their diffs: one page, since many clients read no second
 * one.
 */
export async function listResources(scope: McpScope, log: Logger): Promise<ListResourcesResult> {
  try {
    const { items: projects } = await scope.call('projects.list', {})
    const pages = await Promise.all(
      projects.map(({ id }) => scope.call('tasks.list', { project_id: id, limit: maxTasks })),
    )
    const newest = pages
      .flatMap(({ items }) => items)
      .toSorted((one, other) => (one.updated_at < other.updated_at ? 1 : -1))
      .slice(0, maxTasks)
    return { resources: newest.flatMap(resourcesOf) }
  } catch (error) {
    throw toProtocolError(error, log)
  }
}

function resourcesOf({ id, ref, title, status, updated_at, diff_stat }: Task): Resource[] {
  const annotations = { lastModified: updated_at }
  const about = { description: `In ${status}`, annotations }
  const task = { uri: taskUri(id), name: `task ${ref}`, title, mimeType: json, ...about }
  if (diff_stat === null) return [task]
  return [task, { uri: diffUri(id), name: `diff ${ref}`, title: `Diff: ${title}`, mimeType: patch, ...about }]
}

/** Returns the patch, after a list of files that are too large for it. */
function patchOf({ files, patch: text }: Diff): string {
  const leftOut = files.filter(({ truncated }) => truncated)
  return [...leftOut.map(({ path }) => `Left out, too large: ${path}\n`), text].join('')
}

function toProtocolError(error: unknown, log: Logger, uri?: string): Error {
  if (error instanceof ProtocolError) return error
  const { code, message, details } = toApiError(error, log)
  if (code === 'not_found' && uri !== undefined) return new ResourceNotFoundError(uri)
  const protocolCode = code === 'internal_error' ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams
  return new ProtocolError(protocolCode, message, { code, ...(details && { details }) })
}
