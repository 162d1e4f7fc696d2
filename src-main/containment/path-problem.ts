import { inFull, isWithin, realPath } from '../platform/path-names.ts'

/** Copse's own folders: a run gets nothing in them but its worktree. */
export interface OwnFolders {
  readonly dataDir: string
  readonly workspaceRoot: string
}

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
