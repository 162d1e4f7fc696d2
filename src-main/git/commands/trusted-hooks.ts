import { createHash } from 'node:crypto'
import { lstat, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ConfiguredPrograms } from '../../ports/repository-reader.ts'
import { orNull } from '../files/file-errors.ts'

const prefix = 'hook '
/** Tells a record that knows the repository's hooks from one that was made before hooks were recorded. */
const known = 'hooks'

/** Returns the scripts in the hooks folder of a repository by `hook {name}`, each as the hash of its mode and content. */
export async function readHookHashes(common: string): Promise<ConfiguredPrograms> {
  const folder = join(common, 'hooks')
  const names = (await orNull(readdir(folder))) ?? []
  const hashes: Record<string, string> = { [known]: 'recorded' }
  for (const name of names.filter((one) => !one.endsWith('.sample'))) {
    const file = join(folder, name)
    const found = await orNull(lstat(file))
    if (found === null || found.isDirectory()) continue
    const content = (await orNull(readFile(file))) ?? ''
    hashes[prefix + name] = createHash('sha256').update(`${found.mode}\0`).update(content).digest('hex')
  }
  return hashes
}

/** Returns whether the hooks folder holds a script that is new or changed since the repository was trusted. */
export async function hasNewHooks(common: string, trusted: ConfiguredPrograms): Promise<boolean> {
  if (trusted[known] === undefined) return false
  const now = await readHookHashes(common)
  return Object.entries(now).some(([name, hash]) => trusted[name] !== hash)
}
