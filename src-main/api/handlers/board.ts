import type { TaskId } from '../../../src-shared/contract/ids.ts'
import type { Preview } from '../../../src-shared/contract/tasks.ts'
import { portsFrom } from '../../workspaces/rules/port-ranges.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { findProject } from '../find.ts'

/** Number of tasks of one state that fill a column of a tall window. */
const maxOfState = 30
/** With very many states, not all columns are visible at once. */
const maxOfAll = 400

export function createBoardHandlers({
  store,
  engine,
  workflows,
  places,
}: ApiParts): Handlers<'tasks.board' | 'tasks.previews'> {
  const { read } = store
  return {
    'tasks.board': ({ project_id }) => {
      const workflow = workflows.of(findProject(read, project_id).workflow_definition).definition
      const ended = new Set(workflow.states.flatMap(({ kind, name }) => (kind === 'terminal' ? [name] : [])))
      const counts = read.tasks.countByStatus(project_id)
      const maxPerState = Math.max(3, Math.min(maxOfState, Math.floor(maxOfAll / counts.size)))
      const shown = new Set<TaskId>(read.tasks.pressing(project_id))
      for (const status of counts.keys()) {
        const order = ended.has(status) ? 'latest' : 'position'
        for (const id of read.tasks.ofColumn(project_id, status, order, maxPerState)) shown.add(id)
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
      return { items, counts: Object.fromEntries(counts) }
    },
    'tasks.previews': async ({ project_id }) => {
      const { id } = findProject(read, project_id)
      const items: Preview[] = []
      // Checks one worktree after the other, because boards ask for this again and again.
      for (const { task_id, port_base } of read.workspaces.byProject(id)) {
        if (port_base === null) continue
        const [port] = await places.of(task_id).ports.answeringPorts(portsFrom(port_base))
        if (port !== undefined) items.push({ port_base, port })
      }
      return { items }
    },
  }
}
