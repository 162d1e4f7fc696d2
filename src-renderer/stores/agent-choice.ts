import { computed, type ComputedRef } from 'vue'
import type { Agent } from '../../src-shared/contract/projects.ts'
import { canRun, orderAgents } from '../model/order-agents.ts'
import { coderRole } from '../model/workflow-shape.ts'
import { useAgents } from './agents/agents.ts'
import { useRecentAgents } from './agents/recent-agents.ts'
import { useProjects } from './project/projects.ts'
import { useTasks } from './tasks/tasks.ts'

/** The agents that a task of a project can be given to. */
export interface AgentChoice {
  /** All agents, the likeliest first. */
  readonly items: ComputedRef<readonly Agent[]>
  /** The agent that gets work if none is named: the likeliest that isn't paused and can run; null without one. */
  readonly usual: ComputedRef<Agent | null>
}

/** Returns the agents to choose from for a task of the project. */
export function useAgentChoice(projectId: () => string): AgentChoice {
  const agents = useAgents()
  const projects = useProjects()
  const recent = useRecentAgents()
  const tasks = useTasks()
  /** The IDs of agents with the working role in the project, by the last change of their tasks. */
  const usedInProject = computed((): readonly string[] => {
    const workflow = projects.workflow(projectId())
    const role = workflow && coderRole(workflow)
    if (!role) return []
    const holders = tasks
      .byProject(projectId())
      .toSorted((one, other) => other.updated_at.localeCompare(one.updated_at))
      .flatMap(({ roles }) => roles[role] ?? [])
    return [...new Set(holders.flatMap(({ type, id }) => (type === 'agent' ? [id as string] : [])))]
  })
  const items = computed(() =>
    orderAgents(agents.items, { usedHere: recent.ids, usedInProject: usedInProject.value, found: agents.signIns }),
  )
  return {
    items,
    usual: computed(() => items.value.find(({ id, paused }) => !paused && canRun(agents.signIns.get(id))) ?? null),
  }
}
