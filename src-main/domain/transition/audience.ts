import type { audiences } from '../../../src-shared/contract/workflow-definition.ts'

export type Audience = (typeof audiences)[number]

/** Returns whether a trigger is a person. */
export function isPerson(triggered_by: string): boolean {
  return triggered_by.startsWith('user:')
}

/**
 * Returns whether an audience includes a trigger: `agent:<id>` and `system` are agents, `user:<handle>` is a user.
 */
export function audienceMatches(audience: Audience | undefined, triggered_by: string): boolean {
  if (audience === undefined || audience === 'all') return true
  return (audience === 'user_only') === isPerson(triggered_by)
}
