import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import { WorkflowDefinition } from '../../src-shared/contract/workflow-definition.ts'

export interface WorkflowFile {
  readonly description: string
  readonly definition: WorkflowDefinition
}

/**
 * Reads a template: YAML with a definition's keys and a `description`. Throws an error with the file's name if it is
 * invalid.
 */
export async function loadWorkflowFile(path: string): Promise<WorkflowFile> {
  const text = await readFile(path, 'utf8')
  try {
    const value: unknown = parse(text)
    const description =
      typeof value === 'object' && value !== null && 'description' in value ? String(value.description) : ''
    return { description, definition: WorkflowDefinition.parse(value) }
  } catch (error) {
    throw new Error(`${path} isn't a workflow: ${error instanceof Error ? error.message : 'unreadable'}`, {
      cause: error,
    })
  }
}
