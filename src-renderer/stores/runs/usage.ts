import { defineStore } from 'pinia'
import { computed } from 'vue'
import type { Account } from '../../../src-shared/contract/accounts.ts'
import type { AgentDays, ProjectLimits, TaskLimits } from '../../../src-shared/contract/limits.ts'
import type { ProjectUsage, UsageSum } from '../../../src-shared/contract/queue.ts'
import { useClient } from '../base/client.ts'
import { useExecutions } from './executions.ts'

/** The usage that agents report. */
export const useUsage = defineStore('usage', () => {
  const client = useClient()
  const executions = useExecutions()
  return {
    ofTask: (taskId: string): Promise<UsageSum> => client.call('tasks.usage', { task_id: taskId }),
    ofProject: (projectId: string): Promise<ProjectUsage> => client.call('projects.usage', { project_id: projectId }),
    limitsOf: (projectId: string): Promise<ProjectLimits> => client.call('projects.limits', { project_id: projectId }),
    taskLimits: (taskId: string): Promise<TaskLimits> => client.call('tasks.limits', { task_id: taskId }),
    /** Returns each agent's usage of the current day. */
    agentDays: (): Promise<AgentDays> => client.call('agents.limits', {}),
    /** Returns the provider accounts that agents use. */
    accounts: async (): Promise<readonly Account[]> => (await client.call('accounts.list', {})).items,
    /** The number of finished executions: sums change whenever it grows. */
    ended: computed(() => [...executions.byId.values()].filter((execution) => execution.finished_at !== null).length),
  }
})
