import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { orNull } from '../files/file-errors.ts'
import { peekCommonDir } from './peek.ts'
import { runGit, type GitOptions } from './run-git.ts'
import { commonDir } from './worktree.ts'

/**
 * Copies what `to` has and `from` lacks into a repository that borrows objects from other folders, where a run may have
 * put its work, and which may be deleted. Throws `GitError` if an object is missing.
 */
export async function ownObjects(
  repo: string,
  { from, to }: { readonly from: string; readonly to: string },
  { signal }: Pick<GitOptions, 'signal'>,
): Promise<void> {
  const objects = join((await peekCommonDir(repo)) ?? (await commonDir(repo, { signal })), 'objects')
  if ((await orNull(stat(join(objects, 'info', 'alternates')))) === null) return
  const args = ['pack-objects', '--revs', '--non-empty', '--quiet', join(objects, 'pack', 'pack')]
  await runGit(repo, args, { signal, access: 'write', input: `${to}\n^${from}\n` })
}
