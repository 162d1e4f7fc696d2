import type { Usage, UsageReport } from '../../src-shared/contract/executions.ts'
import type { ProjectSettings } from '../../src-shared/contract/projects.ts'
import { findPrice } from '../../src-shared/contract/find-price.ts'
import { toSettings } from '../core/views.ts'
import { addUsageReport } from './rules/usage-report.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import type { Queries } from '../ports/store.ts'

/** Returns the model that a run is configured to use; null if its agent chooses. */
export function modelOf(
  q: Pick<Queries, 'agents'>,
  { agent_id, overrides }: Pick<ExecutionRecord, 'agent_id' | 'overrides'>,
): string | null {
  const agent = agent_id === null ? null : q.agents.get(agent_id)
  return overrides.model ?? agent?.config.model ?? null
}

export function pricesOf(
  q: Pick<Queries, 'projects'>,
  { project_id }: Pick<ExecutionRecord, 'project_id'>,
): ProjectSettings['prices'] {
  const project = q.projects.get(project_id)
  return project ? toSettings(project).prices : {}
}

/** Returns the usage of a run after an external report. */
export function usageAfter(q: Queries, record: ExecutionRecord, report: UsageReport): Usage {
  const prices = pricesOf(q, record)
  return addUsageReport(record.usage, report, {
    model: modelOf(q, record),
    priceOf: (model) => findPrice(model, prices)?.price ?? null,
  })
}
