import { constants } from 'node:fs'
import { chmod, copyFile, mkdir, open, readdir, readlink, symlink, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'

const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0, COPYFILE_EXCL, COPYFILE_FICLONE } = constants
/** Each level holds a descriptor. */
const maxDepth = 64

/**
 * Copies a file or folder at `path` below `root`, in which a run may replace anything at any time: each part is opened
 * from the open folder around it, and no link is followed. Leaves out pipes, sockets, devices and links that lead out,
 * and the rights to run as another user. Returns false, and copies nothing, if it is no file and no folder.
 */
export async function copyKept(root: string, path: string, to: string): Promise<boolean> {
  const opened: FileHandle[] = []
  try {
    let at = root
    for (const name of ['', ...path.split('/')]) {
      const handle = await openPlain(join(at, name))
      if (handle === null) return false
      opened.push(handle)
      at = placeOf(handle)
    }
    const found = opened.at(-1)
    return found !== undefined && (await copyOpen(found, to, 0))
  } finally {
    for (const handle of opened) await handle.close()
  }
}

/** Refers to the open file itself, whatever has its name by now; private homes are on Linux only. */
const placeOf = (handle: FileHandle): string => `/proc/self/fd/${handle.fd}`

const openPlain = async (path: string): Promise<FileHandle | null> =>
  await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => null)

async function copyOpen(handle: FileHandle, to: string, depth: number): Promise<boolean> {
  const stats = await handle.stat()
  if (stats.isFile()) {
    await copyFile(placeOf(handle), to, COPYFILE_EXCL | COPYFILE_FICLONE)
    await chmod(to, stats.mode & 0o777)
    return true
  }
  if (!stats.isDirectory() || depth > maxDepth) return false
  await mkdir(to)
  for (const name of await readdir(placeOf(handle))) {
    const from = join(placeOf(handle), name)
    await using child = await openPlain(from)
    if (child === null) await copyLink(from, join(to, name), depth)
    else await copyOpen(child, join(to, name), depth + 1)
  }
  await chmod(to, (stats.mode & 0o777) | 0o700)
  return true
}

/** Goes up at the start of a link only: further on, `..` of another link's target could lead out. */
async function copyLink(from: string, to: string, depth: number): Promise<void> {
  const target = await readlink(from).catch(() => null)
  const [, up = '', down = ''] = /^((?:\.\.\/)*)(.*)$/s.exec(target ?? '') ?? []
  if (down === '' || down.startsWith('/') || down.split('/').includes('..') || up.length / 3 > depth) return
  await symlink(`${up}${down}`, to)
}
