import { createHash } from 'node:crypto'
import { lstat, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JobFile } from '../../../src-shared/contract/jobs.ts'

const maxFiles = 2_000

/**
 * Lists files by their paths, which a job needs and git doesn't bring; folders with all that they hold. Links and what is
 * missing are left out.
 */
export async function listJobFiles(paths: readonly string[]): Promise<readonly JobFile[]> {
  const list: JobFile[] = []
  const add = async (path: string): Promise<void> => {
    const found = await lstat(path).catch(() => null)
    if (found === null || list.length >= maxFiles) return
    if (found.isDirectory()) for (const name of await readdir(path)) await add(join(path, name))
    if (!found.isFile()) return
    const sha256 = createHash('sha256')
      .update(await readFile(path))
      .digest('hex')
    list.push({ n: list.length, path, mode: found.mode & 0o777, sha256 })
  }
  for (const path of paths) await add(path)
  return list
}

export async function readJobFile(files: readonly JobFile[], n: number): Promise<Uint8Array | null> {
  const path = files.find((file) => file.n === n)?.path
  return path === undefined ? null : await readFile(path).catch(() => null)
}
