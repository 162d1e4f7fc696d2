import { basename } from 'node:path'

/** The marker of the processes in a throw-away worktree, valid also after a crash: the name of its folder. */
export const scratchMark = (path: string): string => basename(path)
