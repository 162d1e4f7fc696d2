import { ApiError } from '../../../src-shared/contract/errors.ts'
import { TaskId } from '../../../src-shared/contract/ids.ts'
import type { TaskFilter, TaskRecord } from '../../engine/ports/store.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { findTask, missing } from '../find.ts'
import { workspaceView } from '../workspace-view.ts'

type Names =
  | 'tasks.list'
  | 'tasks.get'
  | 'tasks.transitions'
  | 'tasks.reviews'
  | 'tasks.executions'
  | 'tasks.workspace'
  | 'tasks.logs'
  | 'tasks.read_log'

export function createTaskReads(parts: ApiParts): Handlers<Names> {
  const { store, engine, logs } = parts
  const { read } = store
  const { views } = engine
  return {
    'tasks.list': (input) => {
      const filter: TaskFilter = {
        project_id: input.project_id,
        status: input.status ?? null,
        q: input.q ?? null,
        label: input.label ?? null,
        assignee: input.assignee ?? null,
        parent_id: input.parent_id ?? null,
        include_archived: input.include_archived ?? false,
        after: input.cursor === undefined ? null : parseCursor(input.cursor),
        limit: input.limit + 1,
      }
      const found = read.tasks.list(filter)
      const page = found.slice(0, input.limit)
      const last = page.at(-1)
      const has_more = found.length > input.limit
      return {
        items: page.map((task) => views.task(task)),
        has_more,
        next_cursor: has_more && last ? cursorOf(last) : null,
      }
    },
    'tasks.get': ({ task_id }) => views.task(findTask(read, task_id)),
    'tasks.transitions': ({ task_id }) => ({
      items: read.transitions.byTask(task_id).map(({ task_id: _task, ...entry }) => entry),
    }),
    'tasks.reviews': ({ task_id }) => ({ items: [...read.reviews.byTask(task_id)] }),
    'tasks.executions': ({ task_id }) => ({
      items: read.executions.byTask(task_id).map((one) => views.execution(one)),
    }),
    'tasks.workspace': ({ task_id }, { signal }) =>
      workspaceView(parts, engine.worktrees.of(findTask(read, task_id)) ?? missing('workspace'), signal),
    'tasks.logs': async ({ task_id }) => ({ items: [...(await logs.list(task_id))] }),
    'tasks.read_log': async ({ task_id, name, offset, limit }) =>
      (await logs.read(task_id, name, offset, limit)) ?? missing('log'),
  }
}

/** Where a page ended: the position and id of its last task. */
function cursorOf(task: TaskRecord): string {
  return btoa(JSON.stringify([task.position, task.id]))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}

function parseCursor(cursor: string): { position: number; id: TaskId } {
  try {
    const value: unknown = JSON.parse(atob(cursor.replaceAll('-', '+').replaceAll('_', '/')))
    if (Array.isArray(value) && typeof value[0] === 'number') return { position: value[0], id: TaskId.parse(value[1]) }
  } catch (error) {
    throw badCursor(error)
  }
  throw badCursor(null)
}

function badCursor(cause: unknown): ApiError {
  const message = 'This cursor is none that a list answered. Leave it out to start from the beginning.'
  return new ApiError(
    { code: 'validation_failed', message, details: { issues: [{ path: 'cursor', message }] } },
    { cause },
  )
}
