import type { HookEvent } from '../../src-shared/contract/lifecycle-hooks.ts'
import { enabledHooks, type PendingHooks } from '../domain/transition/pending-hooks.ts'
import { isDone, roleOf, type Workflow } from '../domain/workflow/graph.ts'
import type { Tx } from '../core/event-feed.ts'
import { belongsToCurrentState } from '../core/execution-records.ts'
import type { ExecutionRecord, Queries, TaskRecord } from '../ports/store.ts'

/** Writes down that a moment has come, with the hooks that are to run then; nothing when there are none. */
function enqueueHooks(tx: Tx, task: TaskRecord, { event, ...moment }: Omit<PendingHooks, 'hooks' | 'cursor'>): void {
  const settings = tx.projects.get(task.project_id)?.settings
  const hooks = enabledHooks(settings?.lifecycle_hooks ?? {}, event)
  // Without hooks of its own an end still ends what hooks of the work have begun.
  const isEnd = event !== 'before_work' && event !== 'on_work_start'
  if (hooks.length > 0 || (isEnd && tx.pendingHooks.ofTask(task.id).length > 0))
    tx.pendingHooks.add(task.id, { event, hooks, ...moment, cursor: 0 })
}

/** An execution has begun: work has, when the task is in a state for work and this is its turn. */
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

/** Whether an execution does the work of the state that its task is in. */
export function doesStateWork(
  q: Pick<Queries, 'transitions'>,
  workflow: Workflow,
  task: TaskRecord,
  execution: ExecutionRecord,
): boolean {
  const state = workflow.states.get(task.status)
  return state?.kind === 'active' && roleOf(state) === execution.role && belongsToCurrentState(q, execution)
}

/**
 * Work has stopped, as its execution ended: with the task where it was, or on its way. Not when the task is
 * finished; that has hooks of its own. `task` is as it is after the end.
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

/** A finished task: done, or cancelled. `task` is as it is after the move. */
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
