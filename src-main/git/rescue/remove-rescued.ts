import { lstat, rename } from 'node:fs/promises'
import { WorkspaceError } from '../../ports/workspace-error.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { deleteFolder } from '../files/delete-folder.ts'
import { orNull } from '../files/file-errors.ts'
import { quarantine } from '../files/quarantine.ts'

/** Returns the name of a worktree during its last check and removal. */
export const removingPath = (path: string): string => `${path}.removing`

/**
 * Removes a folder whose content was saved. Renames it first, so that nothing finds it, and checks it again: if it
 * differs from what was saved, because a program is still writing, restores its name and refuses. `isAsKept` gets the
 * folder's current path.
 */
export async function removeRescued(
  path: string,
  isAsKept: (folder: string) => Promise<boolean>,
  { signal }: Cancellable,
): Promise<void> {
  const going = removingPath(path)
  // Left by a removal that a crash interrupted, after which the worktree was created again.
  await quarantine(going)
  await rename(path, going)
  try {
    if (!(await isAsKept(going))) throw changedDuringRemoval(path)
    signal.throwIfAborted()
  } catch (error) {
    await rename(going, path)
    throw error
  }
  await deleteFolder(going)
}

/** Undoes the rename of a removal that a crash interrupted. */
export async function undoRemoval(path: string): Promise<void> {
  if ((await orNull(lstat(path))) === null) await orNull(rename(removingPath(path), path))
}

/** Creates the error of a removal during which files changed. */
export function changedDuringRemoval(path: string): WorkspaceError {
  return new WorkspaceError(
    'git_failed',
    `Files in ${path} changed while they were being kept, so nothing was removed. ` +
      'Stop the program that is writing there, then try again.',
  )
}
