import { constants } from 'node:fs'
import { copyFile, glob, lstat, readdir, readlink, realpath, symlink } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative } from 'node:path'
import { hasCode, isTaken, orNull } from './file-errors.ts'
import { openFolder, type Folder } from './folder.ts'
import { isGitName, isInside, pathInside } from './path-guard.ts'

/**
 * Copies files that git does not track (`.env` and the like) from the repository's checkout into the worktree.
 * `patterns` are paths or globs relative to the repository's root; missing files are skipped, existing ones in the
 * worktree kept. Throws `outside_worktree` for a path that leads out of either. Returns the paths that were copied.
 */
export async function copyFiles(
  root: string,
  worktree: string,
  patterns: readonly string[],
): Promise<readonly string[]> {
  const realRoot = await realpath(root)
  const copied: string[] = []
  for (const pattern of patterns) {
    await pathInside(realRoot, pattern)
    for await (const match of glob(pattern, { cwd: realRoot, exclude: isGitName })) {
      await pathInside(realRoot, match)
      if (match === '' || match === '.') {
        await using all = await openFolder(realRoot, '')
        await using into = await openFolder(worktree, '')
        await copyContents({ from: all, into, root: realRoot, path: realRoot, copied })
        continue
      }
      await using from = await openFolder(realRoot, dirname(match))
      await using into = await openFolder(worktree, dirname(match), { create: true })
      const path = join(realRoot, dirname(match))
      await copyEntry({ from, into, root: realRoot, path, copied }, basename(match))
    }
  }
  return copied
}

/** Files of one folder that are copied at once: as many as Node handles in parallel, and some that wait. */
const atOnce = 8

/** The open source and target folders; `path` is the source in the repository at `root`. */
interface FolderPair {
  readonly from: Folder
  readonly into: Folder
  readonly root: string
  readonly path: string
  /** Gets the paths of copied files, relative to `root`. */
  readonly copied: string[]
}

async function copyContents(place: FolderPair): Promise<void> {
  const entries = (await readdir(place.from.at, { withFileTypes: true })).filter(({ name }) => !isGitName(name))
  const folders = entries.filter((entry) => entry.isDirectory())
  const others = entries.filter((entry) => !entry.isDirectory())
  for (let start = 0; start < others.length; start += atOnce) {
    const copies = others.slice(start, start + atOnce).map(({ name }) => copyEntry(place, name))
    // Wait for all of them before the folders that they use are closed.
    const failed = (await Promise.allSettled(copies)).find((copy) => copy.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }
  // One at a time, because each level holds two folders open.
  for (const { name } of folders) await copyEntry(place, name)
}

async function copyEntry(place: FolderPair, name: string): Promise<void> {
  const { from, into, root, path, copied } = place
  const entry = await orNull(lstat(join(from.at, name)))
  const isCopied = entry?.isSymbolicLink()
    ? await copyLink(place, name)
    : entry?.isFile() === true && (await copyPlainFile(from, into, name))
  if (isCopied) copied.push(relative(root, join(path, name)))
  if (!entry?.isDirectory()) return
  await using source = await from.child(name)
  const taken = await orNull(lstat(join(into.at, name)))
  // Keeps a file or link that the worktree has already.
  if (taken !== null && !taken.isDirectory()) return
  await using target = await into.child(name, { create: true })
  await copyContents({ ...place, from: source, into: target, path: join(path, name) })
}

/** Copies a file, by cloning its blocks where the file system can; returns false if there is one already. */
async function copyPlainFile(from: Folder, into: Folder, name: string): Promise<boolean> {
  await using source = await from.open(name, constants.O_RDONLY)
  const opened = process.platform === 'linux' ? `/proc/self/fd/${source.fd}` : join(from.at, name)
  try {
    await copyFile(opened, join(into.at, name), constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
    return true
  } catch (error) {
    if (!isTaken(error)) throw error
    return false
  }
}

/**
 * Copies a link. Skips one that leads out of the repository; makes one relative that contains the checkout's full
 * path. Returns whether it was made.
 */
async function copyLink({ from, into, root, path }: FolderPair, name: string): Promise<boolean> {
  const text = await readlink(join(from.at, name))
  const real = await realpath(join(path, name)).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ELOOP') || hasCode(error, 'ENOTDIR')) return null
    throw error
  })
  if (real === null || !isInside(root, real)) return false
  try {
    await symlink(isAbsolute(text) ? relative(path, real) || '.' : text, join(into.at, name))
    return true
  } catch (error) {
    if (!isTaken(error)) throw error
    return false
  }
}
