import { existsSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join, relative, resolve } from 'node:path'

/** What is Copse's own: no run gets more of it than its worktree. */
export interface OwnFolders {
  readonly dataDir: string
  readonly workspaceRoot: string
}

/** The path with the home folder for `~`. */
export const inFull = (path: string): string => path.replace(/^~(?=\/|$)/, homedir())

/** Returns why no run is given this path, wherever links on the way lead; null where one may have it. */
export function pathProblem(path: string, { dataDir, workspaceRoot }: OwnFolders): string | null {
  const wanted = realPath(inFull(path))
  for (const [own, what] of [
    [dataDir, 'the data folder'],
    [workspaceRoot, 'the folder of the worktrees'],
  ] as const) {
    const real = realPath(own)
    if (isWithin(real, wanted)) return `${path} holds ${what} of Copse. Choose a folder that doesn't.`
    if (isWithin(wanted, real)) return `${path} lies in ${what} of Copse. Choose a path outside it.`
  }
  return null
}

/** Whether a path is the folder or lies in it, as the names tell. */
export const isWithin = (path: string, folder: string): boolean => !/^\.\.(?:[\\/]|$)/.test(relative(folder, path))

/** Returns where a path leads. What is not there yet has the name that it will have. */
export function realPath(path: string): string {
  const whole = resolve(path)
  if (existsSync(whole)) return realpathSync(whole)
  return dirname(whole) === whole ? whole : join(realPath(dirname(whole)), basename(whole))
}
