import { lstat } from 'node:fs/promises'
import { orNull } from '../files/file-errors.ts'
import { pathBytes } from './tree-paths.ts'

/** A file by its path as bytes, one character each. */
export interface LargeKey {
  readonly key: string
  readonly bytes: number
}

const atOnce = 64

/** Returns those of the files that are larger than the limit, in bytes. */
export async function largeAmong(
  worktree: string,
  keys: readonly string[],
  limit: number,
): Promise<readonly LargeKey[]> {
  const large: LargeKey[] = []
  for (let at = 0; at < keys.length; at += atOnce) {
    const some = keys.slice(at, at + atOnce)
    const found = await Promise.all(some.map((key) => orNull(lstat(pathBytes(worktree, key)))))
    for (const [index, entry] of found.entries())
      if (entry?.isFile() === true && entry.size > limit) large.push({ key: some[index] ?? '', bytes: entry.size })
  }
  return large
}
