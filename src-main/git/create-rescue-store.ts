import type { RescueStore } from '../ports/rescue-store.ts'
import { readRescueDiff } from './rescue/rescue-diff.ts'
import { deleteRescue, expireRescues, listRescues } from './rescue/rescue-list.ts'
import { restoreRescue } from './rescue/rescue-restore.ts'
import { asWorkspaceError } from './workspace-errors.ts'
import type { GitParts } from './git-parts.ts'

/** Implements rescues. */
export function createRescueStore({ perRepository }: GitParts): RescueStore {
  return {
    rescues: (repo, task, { signal }) => asWorkspaceError(listRescues(repo, task, { signal })),
    rescueDiff: (rescue, file, { signal }) => asWorkspaceError(readRescueDiff(rescue, file, { signal })),
    restoreRescue: (name, into, { signal }) =>
      asWorkspaceError(perRepository(name.repo_path, { signal }, () => restoreRescue(name, into, { signal }))),
    deleteRescue: (name, { signal }) =>
      asWorkspaceError(perRepository(name.repo_path, { signal }, () => deleteRescue(name, { signal }))),
    expireRescues: (repo, before, { signal }) =>
      asWorkspaceError(perRepository(repo, { signal }, () => expireRescues(repo, before, { signal }))),
  }
}
