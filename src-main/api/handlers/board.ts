import type { TaskId } from '../../../src-shared/contract/ids.ts'
import type { Preview } from '../../../src-shared/contract/tasks.ts'
import { portsFrom } from '../../domain/task/port-ranges.ts'
import type { TaskPlace } from '../../ports/store.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { findProject } from '../find.ts'

/** Number of tasks of one state that fill a column of a tall window. */
const mostOfState = 30
/** With very many states, not all columns are visible at once. */
const mostOfAll = 400

export function createBoardHandlers({
  store,
  engine,
  workflows,
  workspaces,
}: ApiParts): Handlers<'tasks.board' | 'tasks.previews'> {
  const { read } = store
  return {
    'tasks.board': ({ project_id }) => {
      const workflow = workflows.of(findProject(read, project_id).workflow_definition).definition
      const ended = new Set(workflow.states.flatMap(({ kind, name }) => (kind === 'terminal' ? [name] : [])))
      const places = read.tasks.places(project_id)
      const byStatus = Map.groupBy(places, ({ status }) => status)
      const shown = new Set<TaskId>(places.flatMap(({ id, pressing }) => (pressing ? [id] : [])))
      const maxPerState = Math.max(3, Math.min(mostOfState, Math.floor(mostOfAll / byStatus.size)))
      for (const [status, all] of byStatus) {
        for (const { id } of inOrder(all, ended.has(status)).slice(0, maxPerState)) shown.add(id)
      }
      // Cards show related tasks, so those are included.
      const related = [...shown].flatMap((id) => [
        ...read.dependencies.of(id),
        ...[read.tasks.get(id)?.stacked_on ?? []].flat(),
        ...read.tasks.children(id).map((child) => child.id),
      ])
      const items = [...new Set([...shown, ...related])].flatMap((id) => {
        const task = read.tasks.get(id)
        return task === null || task.archived ? [] : [engine.views.task(task)]
      })
      return { items, counts: Object.fromEntries([...byStatus].map(([status, { length }]) => [status, length])) }
    },
    'tasks.previews': async ({ project_id }) => {
      const { id } = findProject(read, project_id)
      const items: Preview[] = []
      // Checks one worktree after the other, because boards ask for this again and again.
      for (const { port_base } of read.workspaces.byProject(id)) {
        if (port_base === null) continue
        const [port] = await workspaces.answeringPorts(portsFrom(port_base))
        if (port !== undefined) items.push({ port_base, port })
      }
      return { items }
    },
  }
}

/** Sorts by position, highest first; ended tasks by end, latest first. */
function inOrder(places: readonly TaskPlace[], ended: boolean): readonly TaskPlace[] {
  if (!ended) return places
  return places.toSorted((a, b) => (a.updated_at === b.updated_at ? 0 : a.updated_at < b.updated_at ? 1 : -1))
}
