import { defineStore } from 'pinia'
import type { ProjectId } from '../../../src-shared/contract/ids.ts'
import type { DryRun, WorkflowTemplate } from '../../../src-shared/contract/workflow-templates.ts'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import { useClient } from '../../stores/base/client.ts'
import { writeLocal } from '../../stores/base/local-storage.ts'

const prefix = 'copse.workflow-draft.'

/** An unsaved text and the saved one that it began from; null if unknown. */
export interface WorkflowDraft {
  readonly text: string
  readonly base: string | null
}

/** The requests of the workflow editor, and its unsaved texts, stored on this device by project. */
export const useWorkflowEditing = defineStore('workflow-editing', () => {
  const client = useClient()
  return {
    draftOf: (projectId: string): WorkflowDraft | null => readDraft(localStorage.getItem(prefix + projectId)),
    keep(projectId: string, draft: WorkflowDraft | null): void {
      writeLocal(prefix + projectId, draft && JSON.stringify(draft))
    },
    dryRun: (projectId: string, definition: Record<string, unknown>): Promise<DryRun> =>
      client.call('projects.dry_run', { project_id: projectId as ProjectId, definition }),
    templates: async (): Promise<readonly WorkflowTemplate[]> => (await client.call('templates.list', {})).items,
    saveTemplate: (name: string, definition: Record<string, unknown>): Promise<WorkflowTemplate> =>
      client.call('templates.put', { name, definition }),
  }
})

/** Parses a stored draft; an older version stored only the text. */
function readDraft(kept: string | null): WorkflowDraft | null {
  if (kept === null) return null
  const { text, base } = (parseJson(kept) ?? {}) as Partial<WorkflowDraft>
  return typeof text === 'string' ? { text, base: base ?? null } : { text: kept, base: null }
}
