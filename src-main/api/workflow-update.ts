import { ApiError } from '../../src-shared/contract/errors.ts'
import { WorkflowDefinition } from '../../src-shared/contract/workflow-definition.ts'
import { validateWorkflow } from '../domain/workflow/validate.ts'
import type { ProjectRecord } from '../engine/store-port.ts'
import type { ApiParts } from './context.ts'

/** Refuses a definition that breaks a rule, or that takes away a state in which tasks stand. */
export function checkWorkflow(parts: ApiParts, project: ProjectRecord, text: string): void {
  const isDefault = text.trim() === '' || text.trim() === '{}'
  const definition = isDefault ? parts.workflows.of('').definition : parseDefinition(text)
  const [issue] = isDefault ? [] : validateWorkflow(definition, parts.engine.plugins)
  if (issue) refuse(issue.rule, issue.message, issue.path)
  const names = new Set(definition.states.map((state) => state.name))
  const { tasks } = parts.store.read
  const gone = [...tasks.countByStatus(project.id).keys()].filter((status) => !names.has(status))
  if (gone.length === 0) return
  throw new ApiError({
    code: 'states_in_use',
    message: `Tasks stand in ${gone.join(', ')}, which the new workflow does not have. Move them first.`,
    details: { states: gone, tasks: gone.flatMap((status) => tasks.idsInStatus(project.id, status)) },
  })
}

function parseDefinition(text: string): WorkflowDefinition {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    refuse('schema', `workflow_definition is no JSON: ${error instanceof Error ? error.message : ''}`, '')
  }
  const parsed = WorkflowDefinition.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  refuse('schema', issue?.message ?? 'It has the wrong shape.', issue?.path.join('.') ?? '')
}

function refuse(rule: string, message: string, path: string): never {
  throw new ApiError({ code: 'workflow_invalid', message, details: { rule, path } })
}
