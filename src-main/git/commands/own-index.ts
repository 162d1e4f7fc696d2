import { copyFile, mkdir, readdir, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { orNull } from '../files/file-errors.ts'

/** A copy that git can work on without missing a change that came within the same moment as the original's last. */
export async function copyIndex(from: string, to: string): Promise<void> {
  const times = await orNull(stat(from))
  if (times === null) return
  await copyFile(from, to)
  // git takes a file that is not older than the index for possibly changed. A copy with a newer time would make
  // it miss a change of the same size within that moment; one that is rounded down only makes it look twice.
  const seconds = Math.floor(times.mtimeMs / 1000)
  await utimes(to, seconds, seconds)
}

/** Returns the environment in which git puts new objects into the temporary folder and reads those of the repository. */
export async function ownObjectsEnv(temporary: string, real: string): Promise<Record<string, string>> {
  const own = join(temporary, 'objects')
  await mkdir(own)
  return { GIT_OBJECT_DIRECTORY: own, GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${real.replaceAll(/["\\]/g, '\\$&')}"` }
}

/** Whether objects are missing that git fetches when they are asked for. */
export async function isPartial(objects: string): Promise<boolean> {
  const packs = (await orNull(readdir(join(objects, 'pack')))) ?? []
  return packs.some((name) => name.endsWith('.promisor'))
}
