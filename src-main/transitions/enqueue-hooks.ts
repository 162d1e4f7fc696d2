import type { HookEvent } from '../../src-shared/contract/lifecycle-hooks.ts'
import { enabledHooks, type PendingHooks } from '../domain/transition/pending-hooks.ts'
import { isDone, roleOf, type Workflow } from '../domain/workflow/graph.ts'
import type { Tx } from '../core/event-feed.ts'
import { belongsToCurrentState } from '../core/execution-records.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import type { TaskRecord, TransitionQueries } from '../ports/task-queries.ts'

/** Stores the hooks to run for an event; does nothing if there are none. */
function enqueueHooks(tx: Tx, task: TaskRecord, { event, ...moment }: Omit<PendingHooks, 'hooks' | 'cursor'>): void {
  const settings = tx.projects.get(task.project_id)?.settings
  const hooks = enabledHooks(settings?.lifecycle_hooks ?? {}, event)
  // Enqueue end events even without hooks: they stop hooks still running for the work.
  const isEnd = event !== 'before_work' && event !== 'on_work_start'
  if (hooks.length > 0 || (isEnd && tx.pendingHooks.ofTask(task.id).length > 0))
    tx.pendingHooks.add(task.id, { event, hooks, ...moment, cursor: 0 })
}

/** Enqueues on_work_start if the execution that started does the work of the task's current state. */
export function enqueueWorkStarted(tx: Tx, workflow: Workflow, task: TaskRecord, execution: ExecutionRecord): void {
  if (!doesStateWork(tx, workflow, task, execution)) return
  const entered = tx.transitions.last(task.id)
  enqueueHooks(tx, task, {
    event: 'on_work_start',
    from: entered?.from_state ?? task.status,
    to: task.status,
    triggered_by: entered?.triggered_by ?? 'system',
    ...agentOf(execution),
    transition_id: entered?.id ?? null,
  })
}

/** Returns whether an execution does the work of the state that its task is in. */
export function doesStateWork(
  q: { readonly transitions: TransitionQueries },
  workflow: Workflow,
  task: TaskRecord,
  execution: ExecutionRecord,
): boolean {
  const state = workflow.states.get(task.status)
  return state?.kind === 'active' && roleOf(state) === execution.role && belongsToCurrentState(q, execution)
}

/**
 * Enqueues the hooks for the end of an execution's work, whether the task stayed in its state or moves on; not when the
 * task is finished, which has its own hooks. `task` is the record after the end.
 */
export function enqueueWorkStopped(
  tx: Tx,
  workflow: Workflow,
  task: TaskRecord,
  stopped: { readonly execution: ExecutionRecord; readonly from: string; readonly triggered_by: string },
): void {
  if (workflow.states.get(task.status)?.kind === 'terminal') return
  const { execution, from, triggered_by } = stopped
  enqueueHooks(tx, task, {
    event: 'on_work_stop',
    from,
    to: task.status,
    triggered_by,
    ...agentOf(execution),
    transition_id: tx.transitions.last(task.id)?.id ?? null,
  })
}

/** Enqueues the hooks of a finished task, done or cancelled. `task` is the record after the move. */
export function enqueueTaskFinished(
  tx: Tx,
  workflow: Workflow,
  task: TaskRecord,
  moved: Pick<PendingHooks, 'from' | 'triggered_by' | 'transition_id'>,
): void {
  const event: HookEvent | null = isDone(workflow, task.status)
    ? 'on_task_done'
    : workflow.cancellation?.name === task.status
      ? 'on_task_cancel'
      : null
  if (event !== null) enqueueHooks(tx, task, { event, ...moved, to: task.status, agent_id: null, execution_id: null })
}

function agentOf({ id, agent_id }: ExecutionRecord): Pick<PendingHooks, 'agent_id' | 'execution_id'> {
  return { agent_id, execution_id: id }
}
