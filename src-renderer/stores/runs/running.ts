import { defineStore } from 'pinia'
import { computed, watch } from 'vue'
import { useExecutions } from './executions.ts'
import { useTasks } from '../tasks/tasks.ts'

/** The number of running agents by project. Queued executions and those of people take no slot and aren't counted. */
export const useRunning = defineStore('running', () => {
  const tasks = useTasks()
  const executions = useExecutions()
  // A task contains only its execution's ID, so the execution itself is fetched once.
  watch(
    () => [...tasks.byId.values()].flatMap((task) => task.active_execution_id ?? []),
    (ids) => {
      // If this fails, the execution counts as running, and the next event corrects the count.
      for (const id of ids) void executions.ensure(id).catch(() => undefined)
    },
    { immediate: true },
  )
  const counts = computed(() => {
    const byProject = new Map<string, number>()
    for (const task of tasks.byId.values()) {
      if (task.active_execution_id === null) continue
      const execution = executions.byId.get(task.active_execution_id)
      if (execution && (execution.status !== 'running' || execution.executor === 'person')) continue
      byProject.set(task.project_id, (byProject.get(task.project_id) ?? 0) + 1)
    }
    return byProject
  })
  const byAgent = computed(() => {
    const counted = new Map<string, number>()
    for (const task of tasks.byId.values()) {
      const execution = executions.byId.get(task.active_execution_id ?? '')
      if (execution?.status === 'running' && execution.agent_id !== null)
        counted.set(execution.agent_id, (counted.get(execution.agent_id) ?? 0) + 1)
    }
    return counted
  })
  return {
    all: computed(() => [...counts.value.values()].reduce((sum, count) => sum + count, 0)),
    ofAgent: (agentId: string): number => byAgent.value.get(agentId) ?? 0,
    inProject: (projectId: string): number => counts.value.get(projectId) ?? 0,
    /** Returns whether at least the project's first tasks are loaded; until then none are counted. */
    isKnown: (projectId: string): boolean => ['begun', 'ready'].includes(tasks.loadState(projectId).kind),
  }
})
