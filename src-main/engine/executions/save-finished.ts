import type { Tx } from '../event-feed.ts'
import type { ExecutionRecord } from '../ports/store.ts'
import { toExecution } from '../views.ts'

/** Writes down that an execution has ended, at this moment and without a process, and tells it. */
export function saveFinished(tx: Tx, record: ExecutionRecord): ExecutionRecord {
  const ended: ExecutionRecord = { ...record, pid: null, pid_started: null, finished_at: tx.now() }
  const { project_id, task_id } = ended
  tx.executions.put(ended)
  tx.emit('execution.finished', { project_id, task_id, execution: toExecution(ended) })
  return ended
}
