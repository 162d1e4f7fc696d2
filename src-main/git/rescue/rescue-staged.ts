import { join } from 'node:path'
import { stat } from 'node:fs/promises'
import { orNull } from '../files/file-errors.ts'
import { commitTree } from '../commands/commit.ts'
import { countChanged } from '../commands/count-files.ts'
import { emptyTree, treeOf } from '../commands/merge.ts'
import { runGit } from '../commands/run-git.ts'
import { rescueCommit, uncommittedIn, type RescueOptions } from './rescue.ts'
import { readPlain } from '../files/plain-file.ts'

/**
 * Rescues the staged changes of a worktree whose folder is gone, from the repository's record of it; returns null if
 * they equal HEAD or can't be read any more.
 */
export async function rescueStaged(
  repo: string,
  record: string,
  task: string,
  options: RescueOptions,
): Promise<string | null> {
  const { signal } = options
  if ((await orNull(stat(join(record, 'index')))) === null) return null
  // Refused (128) for an unfinished merge, and for an index that a crash truncated.
  const written = await runGit(repo, ['--git-dir', record, 'write-tree'], { signal, access: 'write', accept: [0, 128] })
  if (written.exit_code !== 0) return null
  const tree = written.stdout.toString('utf8').trim()
  const head = await headOf(repo, record, options)
  const before = head === null ? await emptyTree(repo, { signal }) : await treeOf(repo, head, { signal })
  if (tree === before) return null
  const message = `${uncommittedIn} the workspace of task ${task}\n`
  const commit = await commitTree(repo, { tree, parents: head === null ? [] : [head], message }, { signal })
  const files = await countChanged(repo, before, tree, { signal })
  return await rescueCommit(repo, commit, task, { ...options, note: { kind: 'uncommitted', files } })
}

async function headOf(repo: string, record: string, { signal }: RescueOptions): Promise<string | null> {
  if ((await readPlain(join(record, 'HEAD'))) === null) return null
  const args = ['--git-dir', record, 'rev-parse', '--verify', '--quiet', 'HEAD^{commit}']
  const { exit_code, stdout } = await runGit(repo, args, { signal, accept: [0, 1, 128] })
  return exit_code === 0 ? stdout.toString('utf8').trim() : null
}
