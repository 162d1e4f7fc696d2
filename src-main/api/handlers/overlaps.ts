import type { ApiParts, Handlers } from '../context.ts'
import { findProject } from '../find.ts'

/** The worktrees that would conflict. */
export function createOverlapHandlers({ store }: ApiParts): Handlers<'overlaps.list'> {
  const { read } = store
  return {
    'overlaps.list': ({ project_id }) => ({ items: [...read.overlaps.ofProject(findProject(read, project_id).id)] }),
  }
}
