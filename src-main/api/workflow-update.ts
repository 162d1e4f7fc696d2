import { ApiError } from '../../src-shared/contract/errors.ts'
import type { WorkflowDefinition } from '../../src-shared/contract/workflow-definition.ts'
import { readDefinition, workflowRefusal, type ReadDefinition } from '../domain/workflow/read-definition.ts'
import { withoutRenames } from '../domain/transition/plan-change.ts'
import type { ApiParts, TemplateFile } from './context.ts'
import { throwNotFound } from './find.ts'

/** Parses a submitted definition; throws `workflow_invalid` with every broken rule. */
export function definitionOf(parts: ApiParts, value: unknown): WorkflowDefinition {
  return withoutRenames(usable(readDefinition(value, parts.engine.plugins)))
}

/** Returns the template of this name, valid or not. */
export async function findTemplate(parts: ApiParts, name: string): Promise<TemplateFile> {
  return (await parts.templates.get(name)) ?? throwNotFound('workflow_template')
}

/** Returns a template's text; throws `workflow_invalid` with the problems of its file. */
export function definitionText(template: TemplateFile): string {
  return JSON.stringify(usable(template))
}

function usable(read: ReadDefinition): WorkflowDefinition {
  if (read.definition) return read.definition
  throw new ApiError(workflowRefusal(read.issues))
}
