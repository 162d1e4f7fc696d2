import type { Refusal } from '../../../src-shared/contract/errors.ts'
import { roleOf, type Workflow } from './graph.ts'

/** Returns the roles that tasks of a workflow have: those it declares and those its states name. */
export function rolesOf({ definition }: Workflow): ReadonlySet<string> {
  return new Set([
    ...definition.states.flatMap((one) => roleOf(one) ?? []),
    ...definition.roles.map(({ name }) => name),
  ])
}

/** Refuses a role that a workflow does not have. */
export function checkRole(workflow: Workflow, role: string): Refusal | null {
  const known = rolesOf(workflow)
  if (known.has(role)) return null
  return { code: 'unknown_role', message: `The workflow has no role ${role}. It has: ${[...known].join(', ')}.` }
}
