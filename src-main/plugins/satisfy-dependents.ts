import { z } from 'zod'
import { isDone, type Workflow } from '../domain/workflow/graph.ts'
import type { Queries } from '../ports/store.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { toTask } from '../core/views.ts'
import type { PluginDefinition } from '../hooks/plugin.ts'

/** Emits the tasks that depend on this one, because they may be startable now. */
export const satisfyDependents: PluginDefinition = {
  name: 'satisfy_dependents',
  purpose: 'Free the tasks that waited for this one.',
  phases: ['on_enter', 'after_enter'],
  events: ['on_task_done'],
  options: z.strictObject({}),
  traits: [],
  create: ({ context }) => ({
    run: ({ task, workflow }) => {
      if (context.store.read.dependencies.dependents(task.id).length === 0)
        return { kind: 'skipped', reason: 'not_needed' }
      const free = context.feed.commit((tx) => {
        const waiting = tx.dependencies
          .dependents(task.id)
          .flatMap((id) => tx.tasks.get(id) ?? [])
          .filter((one) => workflow.states.get(one.status)?.kind !== 'terminal')
        for (const one of waiting)
          tx.emit('task.updated', { project_id: one.project_id, task_id: one.id, task: toTask(tx, one) })
        return waiting.map((one) => isFree(tx, workflow, one))
      })
      if (free.length === 0) return { kind: 'skipped', reason: 'not_needed' }
      const note = `${free.filter(Boolean).length} of ${free.length} waiting tasks can be claimed now`
      return { kind: 'ok', note }
    },
  }),
}

/** Returns whether all dependencies of the task are done. */
function isFree(q: Queries, workflow: Workflow, task: TaskRecord): boolean {
  return q.dependencies.of(task.id).every((id) => {
    const other = q.tasks.get(id)
    return other === null || isDone(workflow, other.status)
  })
}
