import { computed } from 'vue'
import type { AgentDays } from '../../../src-shared/contract/limits.ts'
import type { UsageSum } from '../../../src-shared/contract/queue.ts'
import { useQuery } from '../../stores/base/query.ts'
import { useAgents } from '../../stores/agents/agents.ts'
import { useProjects } from '../../stores/project/projects.ts'
import { useUsage } from '../../stores/runs/usage.ts'

/** Returns the usage of each agent in all projects that the user can see. */
export function useAgentUsage() {
  const projects = useProjects()
  const usage = useUsage()
  const { data: sums } = useQuery(
    () => Promise.all(projects.items.map(({ id }) => usage.ofProject(id))),
    () => ['usage by agent', usage.ended, projects.items.length],
  )
  return computed(() => {
    const byAgent = new Map<string, UsageSum>()
    for (const { by_agent } of sums.value ?? []) {
      for (const { agent_id, ...sum } of by_agent) byAgent.set(agent_id, add(byAgent.get(agent_id), sum))
    }
    return byAgent
  })
}

/** Returns today's usage of each agent by ID. */
export function useAgentDays() {
  const usage = useUsage()
  const agents = useAgents()
  const { data } = useQuery(usage.agentDays, () => [
    'days of agents',
    usage.ended,
    agents.items.map(({ config }) => config.limits),
  ])
  return computed(
    () => new Map<string, AgentDays['items'][number]>(data.value?.items.map((day) => [day.agent_id, day])),
  )
}

const sumKnown = (one: number | null, other: number | null): number | null =>
  one === null && other === null ? null : (one ?? 0) + (other ?? 0)

function add(known: UsageSum | undefined, more: UsageSum): UsageSum {
  if (!known) return more
  return {
    executions: known.executions + more.executions,
    input_tokens: sumKnown(known.input_tokens, more.input_tokens),
    output_tokens: sumKnown(known.output_tokens, more.output_tokens),
    cost_usd: sumKnown(known.cost_usd, more.cost_usd),
    incomplete: known.incomplete || more.incomplete,
  }
}
