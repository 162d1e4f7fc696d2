import { z } from 'zod'
import { TaskId } from '../../../src-shared/contract/ids.ts'
import type { TaskFilter } from '../../ports/task-lists.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { findTask, throwNotFound } from '../find.ts'
import { pageOf, cursorFor } from '../pages.ts'
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
        after: cursorFor(Cursor, input.cursor),
        limit: input.limit + 1,
      }
      const page = pageOf(read.tasks.list(filter), input.limit, ({ position, id }) => ({ position, id }))
      return { ...page, items: page.items.map((task) => views.task(task)) }
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
      workspaceView(parts, engine.worktrees.of(findTask(read, task_id)) ?? throwNotFound('workspace'), signal),
    'tasks.logs': async ({ task_id }) => ({ items: [...(await logs.list(task_id))] }),
    'tasks.read_log': async ({ task_id, name, offset, limit }) =>
      (await logs.read(task_id, name, offset, limit)) ?? throwNotFound('log'),
  }
}

/** The cursor of a page: position and ID of its last task. */
const Cursor = z.strictObject({ position: z.number(), id: TaskId })
