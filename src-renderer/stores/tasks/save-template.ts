import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import { useAction } from '../base/query.ts'
import { useTaskTemplateList } from './task-template-list.ts'
import { useTaskTemplates } from './task-templates.ts'
import { useToasts } from '../base/toasts.ts'

type Fields = Omit<OperationInput<'task_templates.create'>, 'project_id' | 'name'>

/** Saves a task draft or task as a named template of a project. */
export function useSaveTemplate(projectId: () => string, shown: () => boolean) {
  const templates = useTaskTemplates()
  const toasts = useToasts()
  const { nameRefusal } = useTaskTemplateList(projectId, shown)
  const { busy, failure, run } = useAction()
  return {
    nameRefusal,
    busy,
    failure,
    /** Saves the template. Returns whether it succeeded. */
    async save(name: string, fields: Fields): Promise<boolean> {
      const isSaved = await run(() => templates.create({ ...fields, name, project_id: projectId() }))
      if (isSaved) toasts.done(`Saved template “${name}”`)
      return isSaved
    },
  }
}
