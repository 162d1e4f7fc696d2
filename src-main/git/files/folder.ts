import { constants } from 'node:fs'
import { lstat, mkdir, open, realpath, type FileHandle } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { hasCode, isTaken } from './file-errors.ts'
import { isInside, outside, pathInside, resolveParent, realpathOfExisting } from './path-guard.ts'

/** An open folder inside a root: no symlink can replace it while it is open. */
export interface Folder extends AsyncDisposable {
  /** A path to the folder, for `{at}/{name}`. On Linux it refers to the open folder itself, even after a rename. */
  readonly at: string
  /** Opens a folder in it; with `create`, creates a missing one. Refuses a symlink. */
  child(name: string, options?: { readonly create?: boolean }): Promise<Folder>
  /** Opens a file in it, never through a symlink. `flags` as in `fs.constants`. */
  open(name: string, flags: number): Promise<FileHandle>
}

// O_NOFOLLOW and O_DIRECTORY are undefined on Windows, where creating a symlink needs a privilege.
const { O_RDONLY, O_NOFOLLOW = 0, O_DIRECTORY = 0, O_NONBLOCK = 0 } = constants

/**
 * Opens the folder at `path` below `root` (`''`: the root itself), part by part. Follows symlinks that stay inside
 * once, at the start; refuses one that appears afterwards with `outside_worktree`, as well as a root that is a
 * symlink and all that `pathInside` refuses.
 */
export async function openFolder(
  root: string,
  path: string,
  { create = false }: { readonly create?: boolean } = {},
): Promise<Folder> {
  const place = await resolveParent(root)
  const way = path === '' ? '' : await wayInside(place, path)
  let folder = await rootFolder(place)
  for (const name of way === '' ? [] : way.split(sep)) {
    await using parent = folder
    folder = await parent.child(name, { create })
  }
  return folder
}

async function wayInside(place: string, path: string): Promise<string> {
  const real = await realpathOfExisting(await pathInside(place, path))
  // A link was created since `pathInside` checked.
  if (!isInside(place, real)) throw outside(path, place)
  return relative(place, real)
}

const rootFolder = (root: string): Promise<Folder> =>
  process.platform === 'linux' ? openByHandle(root, root) : openByPath(root, root)

/** Linux: opens each part from the open parent, so that no name is looked up twice. */
async function openByHandle(path: string, shown: string): Promise<Folder> {
  const handle = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch((error: unknown) => {
    throw isLink(error) ? outside(shown, dirname(shown)) : error
  })
  const at = `/proc/self/fd/${handle.fd}`
  return {
    at,
    child: async (name, { create = false } = {}) => {
      if (create) await makeFolder(join(at, name))
      return await openByHandle(join(at, name), join(shown, name))
    },
    open: (name, flags) => openFile(join(at, name), flags, join(shown, name)),
    [Symbol.asyncDispose]: () => handle.close(),
  }
}

/** Other systems: opens the folder, then compares it with the current target of its name. */
async function openByPath(path: string, root: string): Promise<Folder> {
  if (!(await lstat(path)).isDirectory() || !isInside(root, await realpath(path))) throw outside(path, root)
  return {
    at: path,
    child: async (name, { create = false } = {}) => {
      if (create) await makeFolder(join(path, name))
      return await openByPath(join(path, name), root)
    },
    open: async (name, flags) => {
      const file = join(path, name)
      const handle = await openFile(file, flags, file)
      const [opened, named] = [await handle.stat(), await lstat(file)]
      if (opened.ino === named.ino && opened.dev === named.dev && isInside(root, await realpath(file))) return handle
      await handle.close()
      throw outside(file, root)
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
}

async function openFile(path: string, flags: number, shown: string): Promise<FileHandle> {
  try {
    return await open(path, flags | O_NOFOLLOW | O_NONBLOCK, 0o600)
  } catch (error) {
    throw isLink(error) ? outside(shown, dirname(shown)) : error
  }
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path)
  } catch (error) {
    if (!isTaken(error)) throw error
  }
}

/** Returns whether the error means a symlink or a non-folder where a folder is needed. */
function isLink(error: unknown): boolean {
  return hasCode(error, 'ELOOP') || hasCode(error, 'ENOTDIR') || hasCode(error, 'EMLINK')
}
