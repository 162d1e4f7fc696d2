import { basename } from 'node:path'

/** Returns the process marker of a temporary worktree, which a restart knows too: the folder's name. */
export const scratchMark = (path: string): string => basename(path)
