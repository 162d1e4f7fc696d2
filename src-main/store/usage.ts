import type { AgentId, TaskId } from '../../src-shared/contract/ids.ts'
import type { UsageSum } from '../../src-shared/contract/queue.ts'
import type { SpentSum, UsageQueries } from '../ports/usage-queries.ts'
import type { Database } from './database-type.ts'

const sums = `s.executions, iif(s.counted = 0, NULL, s.input_tokens) AS input_tokens,
  iif(s.counted = 0, NULL, s.output_tokens) AS output_tokens, iif(s.costs = 0, NULL, s.cost_usd) AS cost_usd,
  s.costs < s.executions OR s.partial > 0 AS incomplete`
const largestFirst = 'ORDER BY s.input_tokens + s.output_tokens DESC'

type Row<T extends UsageSum> = Omit<T, 'incomplete'> & { readonly incomplete: number }

const toUsageSum = <T extends Omit<UsageSum, 'incomplete'>>(row: T & { readonly incomplete: number }) => ({
  ...row,
  incomplete: row.incomplete === 1,
})

const longestWaitMs = 14 * 86_400_000

/** Returns the smallest UUIDv7 of a time. */
function firstId(ms: number): string {
  const hex = Math.max(0, ms).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}`
}

const only = (sum: SpentSum | undefined): SpentSum => sum ?? { executions: 0, usd: null, minutes: 0, unknown: 0 }

/** Creates the queries of stored sums over executions that reported usage. */
export function createUsageQueries({ $client: client }: Database): UsageQueries {
  const ofTask = client.prepare<[string], Row<UsageSum>>(
    `SELECT ${sums} FROM tasks t JOIN usage_sums s ON s.project_id = t.project_id AND s.kind = 'task' AND s.key = t.id
     WHERE t.id = ?`,
  )
  const total = client.prepare<[string], Row<UsageSum>>(
    `SELECT coalesce(sum(executions), 0) AS executions, iif(sum(counted) = 0, NULL, coalesce(sum(input_tokens), 0)) AS input_tokens,
       iif(sum(counted) = 0, NULL, coalesce(sum(output_tokens), 0)) AS output_tokens,
       iif(sum(costs) > 0, sum(cost_usd), NULL) AS cost_usd,
       coalesce(sum(costs) < sum(executions) OR sum(partial) > 0, 0) AS incomplete
     FROM usage_sums WHERE project_id = ? AND kind = 'agent'`,
  )
  const byAgent = client.prepare<[string], Row<UsageSum & { agent_id: AgentId }>>(
    `SELECT s.key AS agent_id, ${sums} FROM usage_sums s
     WHERE s.project_id = ? AND s.kind = 'agent' AND s.key <> '' ${largestFirst}`,
  )
  const byTask = client.prepare<[string], Row<UsageSum & { task_id: TaskId; title: string }>>(
    `SELECT s.key AS task_id, t.title, ${sums} FROM usage_sums s CROSS JOIN tasks t ON t.id = s.key
     WHERE s.project_id = ? AND s.kind = 'task' ${largestFirst} LIMIT 50`,
  )
  const ofAgent = client.prepare<[string, string], { executions: number; costs: number; turns: number }>(
    `SELECT executions, costs, turns FROM usage_sums WHERE project_id = ? AND kind = 'agent' AND key = ?`,
  )
  const spentOf = (where: string) =>
    client.prepare<string[], SpentSum>(
      `SELECT count(*) AS executions, sum(usage ->> '$.cost_usd') AS usd,
         coalesce(sum(max(0, julianday(coalesce(finished_at, ?)) - julianday(started_at))) * 1440, 0) AS minutes,
         count(*) FILTER (
           WHERE finished_at IS NOT NULL AND (usage ->> '$.cost_usd' IS NULL OR usage ->> '$.incomplete')
         ) AS unknown
       FROM executions WHERE agent_id IS NOT NULL AND started_at IS NOT NULL AND ${where}`,
    )
  const spentOfTask = spentOf('task_id = ?')
  // IDs grow with time: runs that waited for longer than this before they started are left out, and no further index
  // is needed.
  const spentOfProject = spentOf('project_id = ? AND started_at >= ? AND id >= ?')
  const spentOfAgent = spentOf('agent_id = ? AND started_at >= ? AND id >= ?')
  const nothing: UsageSum = { executions: 0, input_tokens: 0, output_tokens: 0, cost_usd: null, incomplete: false }
  const orNothing = (row: Row<UsageSum> | undefined): UsageSum => (row ? toUsageSum(row) : nothing)
  return {
    ofAgent: (project_id, agent_id) => ofAgent.get(project_id, agent_id) ?? { executions: 0, costs: 0, turns: 0 },
    ofTask: (task_id) => orNothing(ofTask.get(task_id)),
    ofProject: (project_id) => ({
      total: orNothing(total.get(project_id)),
      by_agent: byAgent.all(project_id).map((row) => toUsageSum(row)),
      by_task: byTask.all(project_id).map((row) => toUsageSum(row)),
    }),
    spent: (scope, now) => {
      if ('task_id' in scope) return only(spentOfTask.get(now, scope.task_id))
      const first = firstId(Date.parse(scope.since) - longestWaitMs)
      return 'agent_id' in scope
        ? only(spentOfAgent.get(now, scope.agent_id, scope.since, first))
        : only(spentOfProject.get(now, scope.project_id, scope.since, first))
    },
  }
}
