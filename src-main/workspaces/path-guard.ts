import { realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { WorkspaceError } from '../engine/ports.ts'
import { isMissing } from './file-errors.ts'

/**
 * The absolute path of `path` below `root`, both with their symlinks resolved as far as they exist.
 * Throws `outside_worktree` when it leads out, by `..`, by being absolute, or through a symlink.
 */
export async function pathInside(root: string, path: string): Promise<string> {
  const realRoot = await realpath(root)
  const wanted = resolve(realRoot, path)
  if (isAbsolute(path) || !isInside(realRoot, wanted)) throw outside(path, root)
  const real = await realpathOfExisting(wanted)
  if (!isInside(realRoot, real)) throw outside(path, root)
  return wanted
}

/** Whether `path` is `root` or below it; both absolute and resolved. */
export function isInside(root: string, path: string): boolean {
  const way = relative(root, path)
  return way === '' || (!isAbsolute(way) && way !== '..' && !way.startsWith(`..${sep}`))
}

/** `realpath` of the part that exists, with the rest added as it is. */
export async function realpathOfExisting(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if (!isMissing(error) || dirname(path) === path) throw error
    return join(await realpathOfExisting(dirname(path)), basename(path))
  }
}

function outside(path: string, root: string): WorkspaceError {
  return new WorkspaceError('outside_worktree', `"${path}" leads out of ${root}. Give a path inside it.`)
}
