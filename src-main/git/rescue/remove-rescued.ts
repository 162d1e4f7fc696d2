import { lstat, rename } from 'node:fs/promises'
import { WorkspaceError } from '../../ports/workspaces.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { deleteFolder } from '../files/delete-folder.ts'
import { orNull } from '../files/file-errors.ts'
import { quarantine } from '../files/quarantine.ts'

/** What a worktree is called while it is looked through for the last time and removed. */
export const removingPath = (path: string): string => `${path}.removing`

/**
 * Removes a folder of which everything was kept. It is renamed first, so that nobody finds it any more, and then looked
 * at once more: if it is not as it was kept, because somebody goes on writing, it gets its name back and the removal is
 * refused. `isAsKept` is told where the folder is.
 */
export async function removeRescued(
  path: string,
  isAsKept: (folder: string) => Promise<boolean>,
  { signal }: Cancellable,
): Promise<void> {
  const going = removingPath(path)
  // Of a removal that a crash cut short, after which the worktree was made anew.
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

/** Gives a worktree its name back whose removal a crash cut short. */
export async function undoRemoval(path: string): Promise<void> {
  if ((await orNull(lstat(path))) === null) await orNull(rename(removingPath(path), path))
}

/** The failure of a removal during which the files changed. */
export function changedDuringRemoval(path: string): WorkspaceError {
  return new WorkspaceError(
    'git_failed',
    `Files in ${path} changed while they were being kept, so nothing was removed. ` +
      'Stop the program that is writing there, then try again.',
  )
}
