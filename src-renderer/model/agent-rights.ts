import type { User } from '../../src-shared/contract/identity.ts'
import type { Agent } from '../../src-shared/contract/projects.ts'

/** Returns whether the user may change the agent. `me` is null for the local operator of a machine without accounts. */
export const mayChangeAgent = (
  me: Pick<User, 'id' | 'is_admin'> | null,
  { owner_id, daemon_id }: Pick<Agent, 'owner_id' | 'daemon_id'>,
): boolean => daemon_id === null && (me === null || me.is_admin || owner_id === null || owner_id === me.id)
