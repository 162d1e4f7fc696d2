import type { WorkflowDefinition } from '../../../src-shared/contract/workflow-definition.ts'
import { coderRole } from '../../model/workflow-shape.ts'

/** The role that works on a task first, and the other roles of a workflow. */
export function workRoles(workflow: WorkflowDefinition | undefined) {
  const working = (workflow && coderRole(workflow)) ?? 'assignee'
  return { working, others: workflow?.roles.filter(({ name }) => name !== working) ?? [] }
}
