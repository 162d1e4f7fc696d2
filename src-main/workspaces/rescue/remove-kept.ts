import { lstat, rename } from 'node:fs/promises'
import { WorkspaceError } from '../../engine/ports/workspaces.ts'
import type { Cancellable } from '../../engine/ports/cancellable.ts'
import { deleteFolder } from '../files/delete-folder.ts'
import { orNull } from '../files/file-errors.ts'
import { setAside } from '../files/set-aside.ts'

/** What a worktree is called while it is looked through for the last time and removed. */
export const goingName = (path: string): string => `${path}.removing`

/**
 * Removes a folder of which everything was kept. It is renamed first, so that nobody finds it any more, and then looked
 * at once more: if it is not as it was kept, because somebody goes on writing, it gets its name back and the removal is
 * refused. `isAsKept` is told where the folder is.
 */
export async function removeKept(
  path: string,
  isAsKept: (folder: string) => Promise<boolean>,
  { signal }: Cancellable,
): Promise<void> {
  const going = goingName(path)
  // Of a removal that a crash cut short, after which the worktree was made anew.
  await setAside(going)
  await rename(path, going)
  try {
    if (!(await isAsKept(going))) throw stillWritten(path)
    signal.throwIfAborted()
  } catch (error) {
    await rename(going, path)
    throw error
  }
  await deleteFolder(going)
}

/** Gives a worktree its name back whose removal a crash cut short. */
export async function takeBack(path: string): Promise<void> {
  if ((await orNull(lstat(path))) === null) await orNull(rename(goingName(path), path))
}

/** The failure of a removal during which the files changed. */
export function stillWritten(path: string): WorkspaceError {
  return new WorkspaceError(
    'git_failed',
    `Files in ${path} changed while they were being kept, so nothing was removed. ` +
      'End what is writing there, then try again.',
  )
}
