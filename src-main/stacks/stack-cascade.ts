import type { TaskId } from '../../src-shared/contract/ids.ts'
import { cascadeWaitsForStack, waitsForStack } from '../core/stack-of.ts'
import { isRefusal } from '../domain/refusal.ts'
import { cascadeOnPass } from '../domain/workflow/graph.ts'
import type { Queries } from '../ports/store.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { StackDeps } from './stack-facts.ts'

/** Goes on where a passed review held, once the task below has landed. */
export function goOn(deps: StackDeps, id: TaskId): void {
  const { context, transitions, worker } = deps
  const { read } = context.store
  const canGo = (q: Queries): { readonly task: TaskRecord; readonly to: string; readonly by: string } | null => {
    const task = q.tasks.get(id)
    if (!task || task.archived || task.entry_barrier || task.error_annotation !== null) return null
    if (q.effects.first(id) !== null || q.reviews.latest(id)?.status !== 'passed') return null
    const entry = q.transitions.last(id)
    if (!entry?.hooks.some(({ reason }) => reason === waitsForStack)) return null
    const workflow = transitions.workflowOf(q, task)
    const gate = workflow.states.get(task.status)
    const to = gate && cascadeOnPass(workflow, gate)
    if (to === undefined || cascadeWaitsForStack(q, workflow, task)) return null
    return { task, to, by: entry.triggered_by }
  }
  if (!canGo(read)) return
  const moved = context.feed.commit((tx) => {
    const can = canGo(tx)
    if (!can) return null
    const cascade = { cause: 'cascade', version: null, reason: null, depth: 1 } as const
    return transitions.apply(tx, can.task, { ...cascade, to: can.to, triggered_by: can.by })
  })
  if (moved === null) return
  if (isRefusal(moved)) context.log.warn({ task_id: id, code: moved.code }, 'a cascade that waited was refused')
  else worker.wake(id)
}
