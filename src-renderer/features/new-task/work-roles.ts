import type { WorkflowDefinition } from '../../../src-shared/contract/workflow-definition.ts'
import { coderRole } from '../../model/workflow-shape.ts'

/** Returns the role that works on a task first, and the workflow's other roles. */
export function workRoles(workflow: WorkflowDefinition | undefined) {
  const working = (workflow && coderRole(workflow)) ?? 'assignee'
  return { working, others: workflow?.roles.filter(({ name }) => name !== working) ?? [] }
}
