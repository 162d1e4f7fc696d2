import { defineStore } from 'pinia'
import type { ProjectId } from '../../src-shared/contract/ids.ts'
import type { DryRun, WorkflowTemplate } from '../../src-shared/contract/workflow-templates.ts'
import { useClient } from './client.ts'

const prefix = 'copse.workflow-draft.'

/** What the workflow editor asks the service, and the texts that are not saved: kept on this device by project. */
export const useWorkflowEditing = defineStore('workflow-editing', () => {
  const client = useClient()
  return {
    draftOf: (projectId: string): string | null => localStorage.getItem(prefix + projectId),
    keep(projectId: string, text: string | null): void {
      if (text === null) return localStorage.removeItem(prefix + projectId)
      try {
        localStorage.setItem(prefix + projectId, text)
      } catch (error) {
        // The device keeps no more: then it lives as long as the page.
        if (!(error instanceof DOMException)) throw error
      }
    },
    dryRun: (projectId: string, definition: Record<string, unknown>): Promise<DryRun> =>
      client.call('projects.dry_run', { project_id: projectId as ProjectId, definition }),
    templates: async (): Promise<readonly WorkflowTemplate[]> => (await client.call('templates.list', {})).items,
    saveTemplate: (name: string, definition: Record<string, unknown>): Promise<WorkflowTemplate> =>
      client.call('templates.put', { name, definition }),
  }
})
