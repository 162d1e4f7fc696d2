import { and, desc, eq, sql } from 'drizzle-orm'
import type { RunnerId, TaskId } from '../../src-shared/contract/ids.ts'
import type { ExecutionQueries, OpenExecution } from '../ports/execution-queries.ts'
import type { Database } from './database-type.ts'
import { executions } from './schema/work.ts'
import { cachedQuery } from './query-cache.ts'
import { prepareAll, prepareGet, prepareUpsert } from './prepared-statements.ts'

/** Sorts the runs that people have moved first, by rank; the others by age. */
function inTurn<T extends Pick<OpenExecution, 'queue_rank'>>(rows: readonly T[]): readonly T[] {
  if (rows.every(({ queue_rank }) => queue_rank === null)) return rows
  return rows.toSorted((a, b) => (a.queue_rank ?? Infinity) - (b.queue_rank ?? Infinity) || 0)
}

interface QueueFlags {
  readonly dispatched: number
  readonly is_message: number
  readonly runner_ids: string | null
}

export function createExecutionQueries(db: Database): ExecutionQueries {
  const get = prepareGet(db, executions, executions.id)
  const byTask = db
    .select()
    .from(executions)
    .where(eq(executions.task_id, sql.placeholder('task_id')))
    .orderBy(desc(executions.id))
    .prepare()
  // `status IN` in this exact wording: SQLite uses a partial index only if it sees its condition before values are bound.
  const openOfTask = prepareAll(db, executions, `WHERE task_id = ? AND status IN ('queued', 'running') ORDER BY id`)
  // Most tasks have none, and every transition asks.
  const hasOpen = db.$client.prepare<[string], unknown>(
    `SELECT 1 FROM executions WHERE task_id = ? AND status IN ('queued', 'running') LIMIT 1`,
  )
  const hasOpenOfTask = cachedQuery(db, executions, (task_id: TaskId) => hasOpen.get(task_id) !== undefined)
  const lastOf = db
    .select()
    .from(executions)
    .where(and(eq(executions.task_id, sql.placeholder('task_id')), eq(executions.role, sql.placeholder('role'))))
    .orderBy(desc(executions.id))
    .limit(1)
    .prepare()
  const open = prepareAll(db, executions, `WHERE status IN ('queued', 'running') ORDER BY id`)
  const openIn = prepareAll(db, executions, `WHERE status IN ('queued', 'running') AND project_id = ? ORDER BY id`)
  const queue = db.$client.prepare<[], Omit<OpenExecution, 'dispatched' | 'is_message' | 'runner_ids'> & QueueFlags>(
    `SELECT id, task_id, project_id, role, agent_id, status, dispatched, created_at, retry_at, queue_rank, runner_id,
       overrides ->> '$.message' IS NOT NULL AS is_message, overrides ->> '$.runner_ids' AS runner_ids
     FROM executions WHERE status IN ('queued', 'running') ORDER BY id`,
  )
  return {
    get,
    queue: (project_id) =>
      inTurn(queue.all()).flatMap(({ is_message, dispatched, runner_ids, ...row }) => {
        if (project_id !== undefined && row.project_id !== project_id) return []
        return {
          ...row,
          dispatched: dispatched === 1,
          is_message: row.status === 'queued' && is_message === 1,
          runner_ids: runner_ids === null ? null : (JSON.parse(runner_ids) as RunnerId[]),
        }
      }),
    put: prepareUpsert(db, executions, executions.id),
    byTask: (task_id) => byTask.all({ task_id }),
    open: (project_id) => (project_id === undefined ? open() : openIn(project_id)),
    openOfTask: (task_id) => (hasOpenOfTask(task_id) ? openOfTask(task_id) : []),
    lastOf: (task_id, role) => lastOf.get({ task_id, role }) ?? null,
  }
}
