import { isLaterId } from '../../src-shared/lang/compare-ids.ts'
import type { Tx } from './event-feed.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import { emitRunner } from './runner-records.ts'
import { unmarkSent } from './comment-records.ts'
import { toExecution } from './views.ts'
import type { TransitionQueries } from '../ports/task-queries.ts'

/** Saves an execution without a process as ended now, and emits its event. */
export function saveFinished(tx: Tx, record: ExecutionRecord): ExecutionRecord {
  const ended: ExecutionRecord = { ...record, pid: null, pid_started: null, finished_at: tx.now() }
  const { project_id, task_id } = ended
  tx.executions.put(ended)
  tx.emit('execution.finished', { project_id, task_id, execution: toExecution(ended) })
  emitRunner(tx, ended.runner_id)
  return ended
}

/** Returns whether an execution was opened for the state that its task is in now; IDs grow with time. */
export function belongsToCurrentState(
  q: { readonly transitions: TransitionQueries },
  record: Pick<ExecutionRecord, 'id' | 'task_id'>,
): boolean {
  const entered = q.transitions.last(record.task_id)
  return entered === null || isLaterId(record.id, entered.id)
}

/** Cancels an execution that is still queued. */
export function cancelQueued(tx: Tx, record: ExecutionRecord, why: string | null): void {
  const { task_id: id, project_id, overrides } = record
  unmarkSent(tx, { id, project_id }, overrides.message?.comment_ids ?? [])
  saveFinished(tx, { ...record, status: 'cancelled', error: why })
}
