import { resolve } from 'node:path'
import { WorkspaceError } from '../ports/workspace-error.ts'
import type { BranchRef } from '../ports/branch-ref.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import { GitError } from './commands/git-error.ts'
import { explainFileError } from './files/file-errors.ts'
import { requireRepository } from './worktree/moved-repository.ts'

/** Returns the folder that a task's commands work in. */
export const folderOf = ({ path, repo_path }: BranchRef): string => resolve(path ?? repo_path)

/** Throws the error of a missing repository in place of a null or a failure that it caused. */
export async function ofRepository<T>(
  { repo_path }: Pick<BranchRef, 'repo_path'>,
  { signal }: Cancellable,
  work: () => Promise<T>,
): Promise<T> {
  try {
    const answer = await asWorkspaceError(work())
    if (answer === null) await requireRepository(repo_path, { signal })
    return answer
  } catch (error) {
    if (error instanceof WorkspaceError && !signal.aborted)
      await asWorkspaceError(requireRepository(repo_path, { signal }))
    throw error
  }
}

export async function asWorkspaceError<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    const message = error instanceof GitError ? error.message : explainFileError(error)
    if (message !== null) throw new WorkspaceError('git_failed', message, { cause: error })
    throw error
  }
}
