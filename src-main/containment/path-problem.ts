import { existsSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join, relative, resolve } from 'node:path'

/** Copse's own folders: a run gets nothing in them but its worktree. */
export interface OwnFolders {
  readonly dataDir: string
  readonly workspaceRoot: string
}

/** Returns the path with the home folder for `~`. */
export const inFull = (path: string): string => path.replace(/^~(?=\/|$)/, homedir())

/** Returns why no run may have this path, with symlinks resolved; null if a run may. */
export function pathProblem(path: string, { dataDir, workspaceRoot }: OwnFolders): string | null {
  const wanted = realPath(inFull(path))
  for (const [ownFolder, what] of [
    [dataDir, 'the data folder'],
    [workspaceRoot, 'the folder of the worktrees'],
  ] as const) {
    const real = realPath(ownFolder)
    if (isWithin(real, wanted)) return `${path} holds ${what} of Copse. Choose a folder that doesn't.`
    if (isWithin(wanted, real)) return `${path} lies in ${what} of Copse. Choose a path outside it.`
  }
  return null
}

/** Returns whether a path is the folder or below it, by name only. */
export const isWithin = (path: string, folder: string): boolean => !/^\.\.(?:[\\/]|$)/.test(relative(folder, path))

/** Resolves a path's symlinks. Missing parts keep their names. */
export function realPath(path: string): string {
  const whole = resolve(path)
  if (existsSync(whole)) return realpathSync(whole)
  return dirname(whole) === whole ? whole : join(realPath(dirname(whole)), basename(whole))
}
