import { executorInfos, type AgentFigures } from '../../src-shared/contract/executor-profiles.ts'
import { findPrice } from '../../src-shared/contract/find-price.ts'
import type { ModelPrice } from '../../src-shared/contract/limits.ts'
import { defaultProjectSettings } from '../../src-shared/contract/projects.ts'
import type { Task } from '../../src-shared/contract/tasks.ts'
import { hasMoneyLimit, hasTurnLimit } from '../executions/rules/limits.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import type { Queries } from '../ports/store.ts'
import type { TaskRecord } from '../ports/task-queries.ts'

/**
 * Returns which limits can't be enforced for a task's active run, and how often the others are checked. Judged by the
 * run's own report, or before the first by the agent's type and its earlier runs. Absent where nothing is limited
 * that depends on what the agent shows.
 */
export function unenforcedLimits(
  q: Queries,
  task: Pick<TaskRecord, 'active_execution_id' | 'project_id'>,
): Pick<Task, 'limits_unenforced' | 'limits_checked'> {
  const run = task.active_execution_id === null ? null : q.executions.get(task.active_execution_id)
  const agent = run?.agent_id == null ? null : q.agents.get(run.agent_id)
  if (!run || !agent) return {}
  const { limits, prices } = { ...defaultProjectSettings, ...q.projects.get(task.project_id)?.settings }
  const { figures } = executorInfos[run.executor === 'person' ? 'external' : run.executor]
  const money = hasMoneyLimit(limits, agent.config.limits)
    ? isCostKnown(q, run, figures, { configured: agent.config.model, prices })
    : null
  const turns = hasTurnLimit(limits) ? areTurnsKnown(q, run, figures) : null
  if (money === null && turns === null) return {}
  const limits_unenforced = [
    ...(money === false ? ['usd' as const] : []),
    ...(turns === false ? ['turns' as const] : []),
  ]
  return {
    ...(limits_unenforced.length > 0 && { limits_unenforced }),
    ...((money === true || turns === true) && { limits_checked: figures.seen }),
  }
}

function isCostKnown(
  q: Queries,
  run: ExecutionRecord,
  { cost }: AgentFigures,
  {
    configured,
    prices,
  }: { readonly configured: string | undefined; readonly prices: Readonly<Record<string, ModelPrice>> },
): boolean {
  if (run.usage) return run.usage.cost_usd !== null
  const model = run.overrides.model ?? configured
  if (cost === 'tokens' && model !== undefined) return findPrice(model, prices) !== null
  const { executions, costs } = earlierRuns(q, run)
  return executions > 0 ? costs > 0 : cost === 'named'
}

const areTurnsKnown = (q: Queries, run: ExecutionRecord, { turns }: AgentFigures): boolean =>
  turns === 'seen' || (run.usage ? run.usage.turns !== undefined : earlierRuns(q, run).turns > 0)

const earlierRuns = (q: Queries, { agent_id, project_id }: ExecutionRecord) =>
  agent_id === null ? { executions: 0, costs: 0, turns: 0 } : q.usage.ofAgent(project_id, agent_id)
