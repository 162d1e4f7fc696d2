import { copyFile, mkdir, readdir, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { orNull } from '../files/file-errors.ts'

/** Copies an index so that git notices changes made in the same instant as the original's last one. */
export async function copyIndex(from: string, to: string): Promise<void> {
  const times = await orNull(stat(from))
  if (times === null) return
  await copyFile(from, to)
  // Git rechecks files that are not older than the index. With a newer time the copy would hide a change of the same
  // size in that instant; rounding down only makes git check twice.
  const seconds = Math.floor(times.mtimeMs / 1000)
  await utimes(to, seconds, seconds)
}

/** Returns the environment in which git puts new objects into the temporary folder and reads those of the repository. */
export async function ownObjectsEnv(temporary: string, real: string): Promise<Record<string, string>> {
  const ownObjects = join(temporary, 'objects')
  await mkdir(ownObjects)
  return {
    GIT_OBJECT_DIRECTORY: ownObjects,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${real.replaceAll(/["\\]/g, '\\$&')}"`,
  }
}

/** Returns whether the repository is a partial clone, whose missing objects git fetches on demand. */
export async function isPartial(objects: string): Promise<boolean> {
  const packs = (await orNull(readdir(join(objects, 'pack')))) ?? []
  return packs.some((name) => name.endsWith('.promisor'))
}
