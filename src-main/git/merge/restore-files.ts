import { lstat, readFile, readlink, rm, rmdir } from 'node:fs/promises'
import type { Cancellable } from '../../ports/cancellable.ts'
import type { CheckoutLock } from './checkout-lock.ts'
import { orNull } from '../files/file-errors.ts'
import { runGit } from '../commands/run-git.ts'
import { parentsOf, pathBytes, pathText, type ChangedPath } from '../commands/tree-paths.ts'

/**
 * Undoes what git wrote of a move before a full disk or a crash stopped it. Files that are, or start like, those of the
 * move get the content of the index again; any other file was written by someone else and stays.
 */
export async function restoreFiles(
  lock: CheckoutLock,
  changes: readonly ChangedPath[],
  { signal }: Cancellable,
): Promise<void> {
  const { checkout, env } = lock
  const touched: ChangedPath[] = []
  for (const change of changes) if (await isOurs(lock, change, { signal })) touched.push(change)
  // Remove added files first, to make room for the restored ones.
  for (const { key, status } of touched) if (status === 'A') await removeFile(checkout, key)
  const back = touched.filter(({ status }) => status !== 'A').map(({ key }) => key)
  if (back.length === 0) return
  const input = Buffer.from(back.map((key) => `${key}\0`).join(''), 'latin1')
  const args = ['checkout-index', '--force', '--quiet', '-z', '--stdin']
  await runGit(checkout, args, { signal, env, input, access: 'write', accept: [0, 1, 128] })
  await runGit(checkout, ['update-index', '-q', '--refresh'], { signal, env, access: 'write', accept: [0, 1, 128] })
  await lock.install()
}

/** Returns whether the move wrote (or removed) the current file. */
async function isOurs(
  { checkout, env }: CheckoutLock,
  { key, status, mode, id }: ChangedPath,
  { signal }: Cancellable,
): Promise<boolean> {
  const path = pathBytes(checkout, key)
  const entry = await orNull(lstat(path))
  // Git does not fill a submodule's folder here.
  if (mode === '160000') return false
  if (entry === null) return status !== 'A'
  if (status === 'D' || entry.isDirectory()) return false
  const args = mode === '120000' ? ['cat-file', 'blob', id] : ['cat-file', '--filters', `--path=${pathText(key)}`, id]
  const { stdout } = await runGit(checkout, args, { signal, env })
  const present = entry.isSymbolicLink() ? Buffer.from(await readlink(path, 'buffer')) : await readFile(path)
  return stdout.subarray(0, present.length).equals(present)
}

async function removeFile(checkout: string, key: string): Promise<void> {
  await rm(pathBytes(checkout, key), { force: true })
  for (const parent of parentsOf(key)) {
    try {
      await rmdir(pathBytes(checkout, parent))
    } catch (error) {
      // The folder has other content.
      if (error instanceof Error && 'code' in error && ['ENOTEMPTY', 'ENOENT', 'EEXIST'].includes(String(error.code)))
        return
      throw error
    }
  }
}
