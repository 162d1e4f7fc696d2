import { runFailures } from '../../src-shared/contract/run-failures.ts'
import type { ErrorAnnotation } from '../../src-shared/contract/tasks.ts'
import { roleOf } from '../domain/workflow/graph.ts'
import { enqueueWorkStopped, doesStateWork } from '../transitions/enqueue-hooks.ts'
import type { BlockDeps } from '../transitions/block-task.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import { notify } from '../core/notify.ts'
import { saveFinished } from '../core/execution-records.ts'

/**
 * Marks an execution whose process is gone, with the usage that was found of it: its work is in the worktree, and a
 * person must decide how to continue.
 */
export function markExecutionLost(deps: BlockDeps, found: ExecutionRecord, message: string): void {
  const { context, transitions } = deps
  context.feed.commit((tx) => {
    const record = tx.executions.get(found.id)
    if (record?.status !== 'running') return
    const lost = saveFinished(tx, { ...record, usage: found.usage, status: 'lost', error: message })
    const task = tx.tasks.get(record.task_id)
    if (!task) return
    const workflow = transitions.workflowOf(tx, task)
    if (doesStateWork(tx, workflow, task, record))
      enqueueWorkStopped(tx, workflow, task, { execution: lost, from: task.status, triggered_by: 'system' })
    const state = workflow.states.get(task.status)
    const isItsTurn = state !== undefined && roleOf(state) === record.role
    const annotation: ErrorAnnotation = {
      type: 'execution_lost',
      message,
      failure: 'lost',
      advice: runFailures.lost.advice,
      execution_id: record.id,
      recovery_actions: record.session_id === null ? ['retry_execution'] : ['resume', 'retry_execution'],
    }
    if (isItsTurn) notify(context, tx, task, { event_type: 'execution.failed', body: message })
    tx.saveTask({
      ...task,
      active_execution_id: task.active_execution_id === record.id ? null : task.active_execution_id,
      error_annotation: isItsTurn ? annotation : task.error_annotation,
    })
  })
}
