import { createHash, randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import {
  copyFile,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { createKeyedLock } from '../platform/locks/keyed-lock.ts'
import type { AttachmentFiles } from '../ports/attachment-files.ts'
import { mediaTypeOf } from './media-type.ts'

const isHash = (name: string): boolean => /^[0-9a-f]{64}$/.test(name)

/** The worktree's folder for its copies leads out of the worktree. */
class AttachmentPlaceError extends Error {
  override readonly name = 'AttachmentPlaceError'
  readonly code = 'leads_away'
}

/** Stores attachments as files below `dir`, named by their SHA-256, readable by their owner only. */
export function createAttachmentFiles({ dir }: { readonly dir: string }): AttachmentFiles {
  const lock = createKeyedLock()
  const folderOf = (sha256: string): string => {
    if (!isHash(sha256)) throw new TypeError('A file is named by its SHA-256.')
    return join(dir, sha256.slice(0, 2))
  }
  const pathOf = (sha256: string): string => join(folderOf(sha256), sha256)
  const removeUnneeded: AttachmentFiles['removeUnneeded'] = async (sha256s, isNeeded) => {
    for (const sha256 of sha256s) {
      await lock.run(sha256, async () => {
        if (!isNeeded(sha256)) await rm(pathOf(sha256), { force: true })
      })
    }
  }
  return {
    put: async (data_base64, keep) => {
      const bytes = Buffer.from(data_base64, 'base64')
      const sha256 = createHash('sha256').update(bytes).digest('hex')
      return await lock.run(sha256, async () => {
        await mkdir(folderOf(sha256), { recursive: true, mode: 0o700 })
        await writeOnce(pathOf(sha256), bytes)
        return keep({ sha256, size: bytes.length, media_type: mediaTypeOf(bytes) })
      })
    },
    read: async (sha256) => await readFile(pathOf(sha256), 'base64').catch(orNull),
    removeUnneeded,
    sweep: async (isNeeded) => {
      for (const folder of await namesIn(dir)) {
        const names = await namesIn(join(dir, folder))
        for (const name of names.filter((one) => !isHash(one))) await removeOldPartial(join(dir, folder, name))
        await removeUnneeded(names.filter(isHash), isNeeded)
      }
    },
    copyInto: async (worktree, files) => {
      const copseFolder = join(worktree, '.copse')
      const folder = join(copseFolder, 'attachments')
      if (!(await isFolderOrMissing(copseFolder))) {
        throw new AttachmentPlaceError(
          '.copse in the worktree is no folder. Remove it, so that files can be put there.',
        )
      }
      // Removing follows no link.
      await rm(folder, { recursive: true, force: true })
      if (files.length === 0) return
      await mkdir(folder, { recursive: true })
      await using opened = await openMade(folder)
      // The folder ignores itself, so nothing in it is committed and no file of the repository changes.
      await writeFile(join(opened.at, '.gitignore'), '*\n', { flag: 'wx' })
      for (const { sha256, name } of files)
        await copyFile(pathOf(sha256), join(opened.at, name), constants.COPYFILE_EXCL).catch(orNull)
    },
  }
}

/** Opens a folder just made. Another run in the worktree may have put a link in its place, or in that of `.copse`. */
async function openMade(folder: string): Promise<AsyncDisposable & { readonly at: string }> {
  const handle = await open(folder, constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0))
  const dispose = { [Symbol.asyncDispose]: () => handle.close() }
  if (process.platform !== 'linux') return { at: folder, ...dispose }
  const at = `/proc/self/fd/${handle.fd}`
  const place = join(await realpath(dirname(dirname(folder))), '.copse', basename(folder))
  if ((await readlink(at)) === place) return { at, ...dispose }
  await handle.close()
  throw new AttachmentPlaceError('.copse in the worktree is no folder. Remove it, so that files can be put there.')
}

/** Writes under a temporary name first, so that a partial file never has the final name. */
async function writeOnce(path: string, bytes: Buffer): Promise<void> {
  if ((await sizeOf(path)) === bytes.length) return
  const partial = `${path}.${randomUUID()}`
  try {
    await writeFile(partial, bytes, { mode: 0o600, flag: 'wx', flush: true })
    await rename(partial, path)
  } finally {
    await rm(partial, { force: true })
  }
}

async function sizeOf(path: string): Promise<number | null> {
  return (await stat(path).catch(orNull))?.size ?? null
}

const partialMs = 3_600_000

/** Removes the partial file that a crash left. */
async function removeOldPartial(path: string): Promise<void> {
  const info = await stat(path).catch(orNull)
  if (info && Date.now() - info.mtimeMs > partialMs) await rm(path, { recursive: true, force: true })
}

async function isFolderOrMissing(path: string): Promise<boolean> {
  return (await lstat(path).catch(orNull))?.isDirectory() ?? true
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder).catch(orNull)) ?? []
}

/** Returns null for a missing file; throws any other error. */
function orNull(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
  throw error
}
