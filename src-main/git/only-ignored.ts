import { lstat } from 'node:fs/promises'
import { join, posix } from 'node:path'
import type { IgnoredPlace } from '../chapters/rules/needed-paths.ts'
import type { BranchRef } from '../ports/branch-ref.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import { listIgnored } from './commands/ignored.ts'

/** See `DiffReader.onlyIgnored`; a branch without a worktree has nothing ignored. */
export async function findOnlyIgnored(
  { path: worktree }: Pick<BranchRef, 'path'>,
  paths: readonly (readonly string[])[],
  { signal }: Cancellable,
): Promise<readonly IgnoredPlace[]> {
  if (worktree === null) return paths.map(() => null)
  const ignored = await listIgnored(worktree, { signal })
  const placeOf = (path: string): IgnoredPlace => {
    if (ignored.files.has(path)) return 'file'
    for (let folder = posix.dirname(path); folder !== '.'; folder = posix.dirname(folder))
      if (ignored.folders.has(folder)) return 'folder'
    return null
  }
  const exists = async (path: string): Promise<boolean> =>
    (await lstat(join(worktree, path)).catch(() => null))?.isFile() === true
  const find = async (candidates: readonly string[]): Promise<IgnoredPlace> => {
    // Most files need nothing that is ignored, so that the disk is hardly asked.
    if (candidates.every((path) => placeOf(path) === null)) return null
    const found: IgnoredPlace[] = []
    for (const path of candidates) if (await exists(path)) found.push(placeOf(path))
    return found.includes(null) ? null : (found[0] ?? null)
  }
  return await Promise.all(paths.map(find))
}
