import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError, ResourceTemplate } from '@modelcontextprotocol/server'
import type {
  ListResourcesResult,
  McpServer,
  ReadResourceResult,
  Resource,
  Variables,
} from '@modelcontextprotocol/server'
import { TaskId, ProjectId } from '../../src-shared/contract/ids.ts'
import type { Task } from '../../src-shared/contract/tasks.ts'
import type { Diff } from '../../src-shared/contract/workspaces.ts'
import type { Logger } from '../base/log.ts'
import { toApiError } from './http-errors.ts'
import type { McpScope } from './mcp-scope.ts'

/** Where clients of MCP find a task, and what it has changed. */
export const taskUri = (task_id: string) => `copse://tasks/${task_id}`
export const diffUri = (task_id: string) => `${taskUri(task_id)}/diff`

/** How many tasks one page of the list has. */
const tasksOnPage = 100

/** Tasks and their diffs, as things to read: those that the caller may see. */
export function addMcpResources(server: McpServer, scope: McpScope, log: Logger): void {
  const notListed = { list: undefined }
  const read = (of: (task_id: TaskId, uri: string) => Promise<ReadResourceResult>) => {
    return async (uri: URL, variables: Variables) => {
      const task_id = TaskId.safeParse(variables['task_id'])
      if (!task_id.success) throw new ResourceNotFoundError(uri.href)
      try {
        return await of(task_id.data, uri.href)
      } catch (error) {
        throw toProtocolError(error, uri.href, log)
      }
    }
  }
  server.registerResource(
    'task',
    new ResourceTemplate(taskUri('{task_id}'), notListed),
    { title: 'Task', description: 'A task, as svc_get_task answers it.', mimeType: 'application/json' },
    read(async (task_id, uri) => {
      const task = await scope.call('tasks.get', { task_id })
      return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(task, null, 2) }] }
    }),
  )
  server.registerResource(
    'task_diff',
    new ResourceTemplate(diffUri('{task_id}'), notListed),
    {
      title: 'Diff of a task',
      description: "All that a task has changed since it left its base, committed or not, as git's unified patch.",
      mimeType: 'text/x-diff',
    },
    read(async (task_id, uri) => {
      const diff = await scope.call('tasks.diff', { task_id, scope: 'branch' })
      return { contents: [{ uri, mimeType: 'text/x-diff', text: patchOf(diff) }] }
    }),
  )
  // The SDK's own list knows no pages.
  server.server.setRequestHandler('resources/list', async ({ params }) => {
    try {
      return await listPage(scope, params?.cursor)
    } catch (error) {
      throw toProtocolError(error, 'copse://tasks', log)
    }
  })
}

/** A page of one project's tasks; after its last one comes the next project. */
async function listPage(scope: McpScope, cursor: string | undefined): Promise<ListResourcesResult> {
  const { items: projects } = await scope.call('projects.list', {})
  const [wanted, after] = cursor === undefined ? [projects[0]?.id] : parseCursor(cursor)
  const index = projects.findIndex(({ id }) => id === wanted)
  const project = projects[index]
  if (!project) return { resources: [] }
  const page = await scope.call('tasks.list', {
    project_id: project.id,
    limit: tasksOnPage,
    ...(after !== undefined && { cursor: after }),
  })
  const following = projects[index + 1]
  const next = page.next_cursor === null ? following?.id : `${project.id} ${page.next_cursor}`
  return { resources: page.items.flatMap(resourcesOf), ...(next !== undefined && { nextCursor: next }) }
}

function parseCursor(cursor: string): readonly [ProjectId, string?] {
  const [project, after] = cursor.split(' ', 2)
  const id = ProjectId.safeParse(project)
  if (!id.success) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Pass nextCursor of the page before.')
  return after === undefined ? [id.data] : [id.data, after]
}

function resourcesOf({ id, title, status, updated_at, diff_stat }: Task): Resource[] {
  const annotations = { lastModified: updated_at }
  const task = {
    uri: taskUri(id),
    name: `task ${id.slice(-8)}`,
    title,
    description: `Task in ${status}`,
    mimeType: 'application/json',
    annotations,
  }
  if (diff_stat === null) return [task]
  const diff = { uri: diffUri(id), name: `diff ${id.slice(-8)}`, title: `Diff: ${title}`, mimeType: 'text/x-diff' }
  return [task, { ...diff, annotations }]
}

/** The patch; before it, where git skips it, what is too large to be in it. */
function patchOf({ files, patch }: Diff): string {
  const leftOut = files.filter(({ truncated }) => truncated)
  return [...leftOut.map(({ path }) => `Left out, too large: ${path}\n`), patch].join('')
}

function toProtocolError(error: unknown, uri: string, log: Logger): Error {
  if (error instanceof ProtocolError) return error
  const { code, message, details } = toApiError(error, log)
  if (code === 'not_found') return new ResourceNotFoundError(uri)
  const protocolCode = code === 'internal_error' ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams
  return new ProtocolError(protocolCode, message, { uri, code, ...(details && { details }) })
}
