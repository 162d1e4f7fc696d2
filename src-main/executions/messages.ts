import { isLaterId } from '../../src-shared/lang/compare-ids.ts'
import { executorInfos } from '../../src-shared/contract/executor-profiles.ts'
import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { ErrorAnnotation } from '../../src-shared/contract/tasks.ts'
import type { Ground } from '../core/ground.ts'
import type { Tx } from '../core/event-feed.ts'
import type { ExecutionRecord, OpenExecution } from '../ports/execution-queries.ts'
import type { Queries } from '../ports/store.ts'
import { toExecution } from '../core/views.ts'

/** Returns whether a queued execution delivers a person's message. */
export function isMessage(record: ExecutionRecord): boolean {
  return record.status === 'queued' && record.overrides.message !== undefined
}

/** Returns the next message for the holder of this role in a task. */
export function nextMessage(q: Queries, task_id: TaskId, role: string): ExecutionRecord | null {
  return q.executions.openOfTask(task_id).find((one) => one.role === role && isMessage(one)) ?? null
}

/** Returns why a message must wait for its own task; null if it need not. */
export function messageWaitReason(q: Queries, record: OpenExecution): 'task_busy' | 'task_paused' | null {
  if (!record.is_message) return null
  const before = q.executions.openOfTask(record.task_id).some((one) => isLaterId(record.id, one.id))
  if (before) return 'task_busy'
  // After a person stopped the agent, messages wait until a person resumes it.
  return holdsMessages(q.tasks.get(record.task_id)?.error_annotation ?? null) ? 'task_paused' : null
}

/** Returns whether messages wait with a task: a person or a limit has stopped it. */
export function holdsMessages(annotation: Pick<ErrorAnnotation, 'type'> | null): boolean {
  return annotation !== null && ['execution_paused', 'limit_reached', 'usage_limit'].includes(annotation.type)
}

/** Returns the last run of a role with its overrides; executions withdrawn before they started don't count. */
export function lastRun(q: Queries, task_id: TaskId, role: string): ExecutionRecord | null {
  const isRun = (one: ExecutionRecord) =>
    one.role === role && !isMessage(one) && !(one.status === 'cancelled' && one.started_at === null)
  return q.executions.byTask(task_id).find(isRun) ?? null
}

/** Returns the session that a new run of this agent continues; null if there is none or its type can't resume. */
export function sessionOf(
  q: Queries,
  { task_id, role, agent_id }: Pick<ExecutionRecord, 'task_id' | 'role' | 'agent_id'>,
): string | null {
  const agent = agent_id === null ? null : q.agents.get(agent_id)
  if (!agent || !executorInfos[agent.executor].resumes) return null
  const last = lastRun(q, task_id, role)
  return last?.agent_id === agent_id ? last.session_id : null
}

/** Sets a waiting message to continue the session of the run before it. */
export async function continueSession(context: Ground, found: ExecutionRecord): Promise<ExecutionRecord> {
  if (!isMessage(found)) return found
  return await context.writes.untilWritten(() =>
    context.feed.commit((tx) => {
      const record = tx.executions.get(found.id)
      if (!record || !isMessage(record)) return found
      const current = { ...record, session_id: sessionOf(tx, record) }
      tx.executions.put(current)
      return current
    }),
  )
}

/** Emits an event when a message was queued or its text changed. */
export function emitMessageUpdated(tx: Tx, record: ExecutionRecord): void {
  const { project_id, task_id } = record
  tx.emit('execution.updated', { project_id, task_id, execution: toExecution(record) })
}
