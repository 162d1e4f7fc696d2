import { constants } from 'node:fs'
import { lstat, mkdir, open, realpath, type FileHandle } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { hasCode, isTaken } from './file-errors.ts'
import { isInside, outside, pathInside, placeOf, realpathOfExisting } from './path-guard.ts'

/** A folder that was checked to be inside its root and stays so: no symlink can replace it while it is open. */
export interface Folder extends AsyncDisposable {
  /** A path to it, for `{at}/{name}`. On Linux it leads to the open folder itself, whatever happens to its name. */
  readonly at: string
  /** The folder of that name in it; with `create`, made where it is missing. Refuses a symlink. */
  child(name: string, options?: { readonly create?: boolean }): Promise<Folder>
  /** Opens a file in it, never through a symlink. `flags` as in `fs.constants`. */
  open(name: string, flags: number): Promise<FileHandle>
}

// O_NOFOLLOW and O_DIRECTORY are undefined on Windows, where making a symlink is a privilege.
const { O_RDONLY, O_NOFOLLOW = 0, O_DIRECTORY = 0, O_NONBLOCK = 0 } = constants

/**
 * Opens the folder at `path` below `root` (`''`: the root itself), part by part. Symlinks that stay inside are followed
 * once, at the start; one that appears afterwards is refused with `outside_worktree`, as is a root that is a symlink
 * and whatever `pathInside` refuses.
 */
export async function openFolder(
  root: string,
  path: string,
  { create = false }: { readonly create?: boolean } = {},
): Promise<Folder> {
  const place = await placeOf(root)
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
  // A link that was put there since `pathInside` looked.
  if (!isInside(place, real)) throw outside(path, place)
  return relative(place, real)
}

const rootFolder = (root: string): Promise<Folder> =>
  process.platform === 'linux' ? held(root, root) : checked(root, root)

/** Linux: every step starts from the open folder, so that no name is looked up twice. */
async function held(path: string, shown: string): Promise<Folder> {
  const handle = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch((error: unknown) => {
    throw isLink(error) ? outside(shown, dirname(shown)) : error
  })
  const at = `/proc/self/fd/${handle.fd}`
  return {
    at,
    child: async (name, { create = false } = {}) => {
      if (create) await makeFolder(join(at, name))
      return await held(join(at, name), join(shown, name))
    },
    open: (name, flags) => openFile(join(at, name), flags, join(shown, name)),
    [Symbol.asyncDispose]: () => handle.close(),
  }
}

/** On other systems, what was opened is compared afterwards with what its name points to. */
async function checked(path: string, root: string): Promise<Folder> {
  if (!(await lstat(path)).isDirectory() || !isInside(root, await realpath(path))) throw outside(path, root)
  return {
    at: path,
    child: async (name, { create = false } = {}) => {
      if (create) await makeFolder(join(path, name))
      return await checked(join(path, name), root)
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

/** A symlink, or something else than a folder, where a folder is wanted. */
function isLink(error: unknown): boolean {
  return hasCode(error, 'ELOOP') || hasCode(error, 'ENOTDIR') || hasCode(error, 'EMLINK')
}
