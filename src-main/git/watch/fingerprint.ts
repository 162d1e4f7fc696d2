import { createHash } from 'node:crypto'
import { lstat } from 'node:fs/promises'
import type { Cancellable } from '../../ports/cancellable.ts'
import { resolveCommit } from '../commands/branch.ts'
import { peekHead } from '../commands/peek.ts'
import { runGit } from '../commands/run-git.ts'
import { excludeLockFile, unmonitored } from '../commands/status.ts'
import { pathBytes } from '../commands/tree-paths.ts'

/** So many changed files are looked at one by one; of those beyond only the names count. */
const looked = 5_000
const atOnce = 64

/** A word that changes when the differences of a worktree do: from its HEAD, and its changed files' names, sizes and times. */
export async function fingerprint(worktree: string, { signal }: Cancellable): Promise<string> {
  const changed = ['--modified', '--deleted', '--others', '--exclude-standard', '--deduplicate']
  const args = [...unmonitored, 'ls-files', '-z', ...changed, '--', ...excludeLockFile]
  const { stdout } = await runGit(worktree, args, { signal })
  const head = (await peekHead(worktree))?.commit ?? (await resolveCommit(worktree, 'HEAD', { signal }))
  const hash = createHash('sha1')
    .update(`${head ?? ''}\0`)
    .update(stdout)
  const keys = stdout.toString('latin1').split('\0').slice(0, looked)
  for (let at = 0; at < keys.length; at += atOnce) {
    const found = await Promise.all(keys.slice(at, at + atOnce).map((key) => statOf(pathBytes(worktree, key))))
    hash.update(found.join('\n'))
  }
  return hash.digest('hex')
}

async function statOf(path: Buffer): Promise<string> {
  try {
    const { mode, size, mtimeNs, ctimeNs, ino } = await lstat(path, { bigint: true })
    return [mode, size, mtimeNs, ctimeNs, ino].join(' ')
  } catch (error) {
    if (error instanceof Error && 'code' in error) return String(error.code)
    throw error
  }
}
