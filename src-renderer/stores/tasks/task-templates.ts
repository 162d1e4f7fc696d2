import { defineStore } from 'pinia'
import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import type { TaskTemplate } from '../../../src-shared/contract/task-templates.ts'
import { createChangeCounter } from '../base/change-counter.ts'
import { useClient } from '../base/client.ts'

/** Templates for new tasks: loaded when shown, and again after each change. */
export const useTaskTemplates = defineStore('task-templates', () => {
  const client = useClient()
  return {
    ...createChangeCounter(),
    list: async (projectId: string): Promise<readonly TaskTemplate[]> =>
      (await client.call('task_templates.list', { project_id: projectId })).items,
    create: (input: OperationInput<'task_templates.create'>): Promise<TaskTemplate> =>
      client.call('task_templates.create', input),
    update: (input: OperationInput<'task_templates.update'>): Promise<TaskTemplate> =>
      client.call('task_templates.update', input),
    delete: async (templateId: string): Promise<void> =>
      void (await client.call('task_templates.delete', { template_id: templateId })),
  }
})
