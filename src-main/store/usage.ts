import type { AgentId, TaskId } from '../../src-shared/contract/ids.ts'
import type { UsageSum } from '../../src-shared/contract/queue.ts'
import type { Queries } from '../ports/store.ts'
import type { Database } from './database-type.ts'

const sums = `s.executions, s.input_tokens, s.output_tokens, iif(s.costs = 0, NULL, s.cost_usd) AS cost_usd`
const largestFirst = 'ORDER BY s.input_tokens + s.output_tokens DESC'

/** Sums over the executions that reported any usage, as they are kept. */
export function createUsageQueries({ $client: client }: Database): Queries['usage'] {
  const ofTask = client.prepare<[string], UsageSum>(
    `SELECT ${sums} FROM tasks t JOIN usage_sums s ON s.project_id = t.project_id AND s.kind = 'task' AND s.key = t.id
     WHERE t.id = ?`,
  )
  const total = client.prepare<[string], UsageSum>(
    `SELECT coalesce(sum(executions), 0) AS executions, coalesce(sum(input_tokens), 0) AS input_tokens,
       coalesce(sum(output_tokens), 0) AS output_tokens, iif(sum(costs) > 0, sum(cost_usd), NULL) AS cost_usd
     FROM usage_sums WHERE project_id = ? AND kind = 'agent'`,
  )
  const byAgent = client.prepare<[string], UsageSum & { agent_id: AgentId }>(
    `SELECT s.key AS agent_id, ${sums} FROM usage_sums s
     WHERE s.project_id = ? AND s.kind = 'agent' AND s.key <> '' ${largestFirst}`,
  )
  const byTask = client.prepare<[string], UsageSum & { task_id: TaskId; title: string }>(
    `SELECT s.key AS task_id, t.title, ${sums} FROM usage_sums s CROSS JOIN tasks t ON t.id = s.key
     WHERE s.project_id = ? AND s.kind = 'task' ${largestFirst} LIMIT 50`,
  )
  const nothing: UsageSum = { executions: 0, input_tokens: 0, output_tokens: 0, cost_usd: null }
  return {
    ofTask: (task_id) => ofTask.get(task_id) ?? nothing,
    ofProject: (project_id) => ({
      total: total.get(project_id) ?? nothing,
      by_agent: byAgent.all(project_id),
      by_task: byTask.all(project_id),
    }),
  }
}
