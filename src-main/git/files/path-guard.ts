import { realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { WorkspaceError } from '../../ports/workspace-error.ts'
import { isMissing } from './file-errors.ts'

/**
 * Returns the absolute path of `path` below `root`, both with their symlinks resolved as far as they exist. Throws
 * `outside_worktree` if it leads out, by `../..`, by being absolute, or through a symlink, and if a file system could
 * take a part of it for `.git`, which belongs to the repository.
 */
export async function pathInside(root: string, path: string): Promise<string> {
  const realRoot = await realpath(root)
  if (path.includes('\0') || isAbsolute(path)) throw outside(path, root)
  const wanted = resolve(realRoot, path)
  if (!isInside(realRoot, wanted)) throw outside(path, root)
  const real = await realpathOfExisting(wanted)
  if (!isInside(realRoot, real)) throw outside(path, root)
  for (const way of [wanted, real]) {
    if (relative(realRoot, way).split(sep).some(isGitName)) throw insideGit(path)
  }
  return wanted
}

/** Returns whether `path` is `root` or below it; both absolute and resolved. */
export function isInside(root: string, path: string): boolean {
  const way = relative(root, path)
  return way === '' || (!isAbsolute(way) && way !== '..' && !way.startsWith(`..${sep}`))
}

// HFS+ ignores these characters in names; see utf8.c of git.
const overlooked = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g

/**
 * Returns whether a file system takes a name for `.git`: in any case, with characters that HFS+ ignores or Unicode
 * treats as equal, as its short name, or with endings that NTFS drops.
 */
export function isGitName(name: string): boolean {
  const [plain = ''] = name.normalize('NFKC').replaceAll(overlooked, '').toUpperCase().split(':')
  return ['.GIT', 'GIT~1'].includes(plain.replace(/[ .]+$/, ''))
}

/** Returns the `realpath` of the existing part, with the rest appended unchanged. */
export async function realpathOfExisting(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if (!isMissing(error) || dirname(path) === path) throw error
    return join(await realpathOfExisting(dirname(path)), basename(path))
  }
}

/**
 * Returns the location of a worktree's folder: symlinks above it are resolved, but not one in its own place, so callers
 * work on that link and never on the folder that it points to.
 */
export async function resolveParent(path: string): Promise<string> {
  const whole = resolve(path)
  return join(await realpathOfExisting(dirname(whole)), basename(whole))
}

/** Creates the error of a path that leads out of its root. */
export function outside(path: string, root: string): WorkspaceError {
  return new WorkspaceError('outside_worktree', `“${path}” points outside ${root}. Use a path inside it.`)
}

function insideGit(path: string): WorkspaceError {
  return new WorkspaceError('outside_worktree', `“${path}” leads into a repository's own files. Leave them to git.`)
}
