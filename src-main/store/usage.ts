import type { AgentId, TaskId } from '../../src-shared/contract/ids.ts'
import type { UsageSum } from '../../src-shared/contract/queue.ts'
import type { Queries } from '../engine/ports/store.ts'
import type { Database } from './database-type.ts'

const sums = `count(*) AS executions,
  coalesce(sum(json_extract(e.usage, '$.input_tokens')), 0) AS input_tokens,
  coalesce(sum(json_extract(e.usage, '$.output_tokens')), 0) AS output_tokens,
  sum(json_extract(e.usage, '$.cost_usd')) AS cost_usd`
const largestFirst = 'ORDER BY input_tokens + output_tokens DESC'

/** Sums over the executions that reported any usage. */
export function createUsageQueries({ $client: client }: Database): Queries['usage'] {
  const ofTask = client.prepare<[string], UsageSum>(
    `SELECT ${sums} FROM executions e WHERE e.task_id = ? AND e.usage IS NOT NULL`,
  )
  const total = client.prepare<[string], UsageSum>(
    `SELECT ${sums} FROM executions e WHERE e.project_id = ? AND e.usage IS NOT NULL`,
  )
  const byAgent = client.prepare<[string], UsageSum & { agent_id: AgentId }>(
    `SELECT e.agent_id, ${sums} FROM executions e
     WHERE e.project_id = ? AND e.usage IS NOT NULL AND e.agent_id IS NOT NULL GROUP BY e.agent_id ${largestFirst}`,
  )
  const byTask = client.prepare<[string], UsageSum & { task_id: TaskId; title: string }>(
    `SELECT e.task_id, t.title, ${sums} FROM executions e JOIN tasks t ON t.id = e.task_id
     WHERE e.project_id = ? AND e.usage IS NOT NULL GROUP BY e.task_id ${largestFirst} LIMIT 50`,
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
