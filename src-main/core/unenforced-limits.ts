import { executorInfos } from '../../src-shared/contract/executor-profiles.ts'
import { findPrice } from '../../src-shared/contract/list-prices.ts'
import { defaultProjectSettings } from '../../src-shared/contract/projects.ts'
import type { Task } from '../../src-shared/contract/tasks.ts'
import { hasMoneyLimit } from '../domain/task/limits.ts'
import type { ExecutionRecord, Queries, TaskRecord } from '../ports/store.ts'

/**
 * Returns the limits that can't be enforced for a task's active run: money limits, if its agent reports no cost and
 * no price of its model is known. Judged by the reports of earlier runs or, before the first, by the agent's type.
 */
export function unenforcedLimits(
  q: Queries,
  task: Pick<TaskRecord, 'active_execution_id' | 'project_id'>,
): Pick<Task, 'limits_unenforced'> {
  const run = task.active_execution_id === null ? null : q.executions.get(task.active_execution_id)
  const agent = run?.agent_id == null ? null : q.agents.get(run.agent_id)
  if (!run || !agent) return {}
  const { limits, prices } = { ...defaultProjectSettings, ...q.projects.get(task.project_id)?.settings }
  if (!hasMoneyLimit(limits, agent.config.limits)) return {}
  return isCostKnown(q, run, agent.config.model, prices) ? {} : { limits_unenforced: ['usd'] }
}

function isCostKnown(
  q: Queries,
  run: ExecutionRecord,
  configured: string | undefined,
  prices: Parameters<typeof findPrice>[1],
): boolean {
  if (run.usage) return run.usage.cost_usd !== null
  const { cost } = executorInfos[run.executor === 'person' ? 'external' : run.executor]
  const model = run.overrides.model ?? configured
  if (cost === 'tokens' && model !== undefined) return findPrice(model, prices) !== null
  const { executions, costs } =
    run.agent_id === null ? { executions: 0, costs: 0 } : q.usage.ofAgent(run.project_id, run.agent_id)
  return executions > 0 ? costs > 0 : cost === 'named'
}
