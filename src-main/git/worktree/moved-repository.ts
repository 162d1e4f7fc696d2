import { realpath, stat } from 'node:fs/promises'
import type { Cancellable } from '../../ports/cancellable.ts'
import { WorkspaceError } from '../../ports/workspace-error.ts'
import { orNull } from '../files/file-errors.ts'
import { peekCommonDir } from '../commands/peek.ts'
import { runGit } from '../commands/run-git.ts'
import { keepFilesHere } from '../commands/own-worktree.ts'
import { readGitLink } from '../commands/git-link.ts'
import { findRecord, repairWorktree } from '../commands/worktree.ts'

/** Returns the folder that all worktrees of a repository share; refuses if the repository is gone. */
export async function requireRepository(root: string, { signal }: Cancellable): Promise<string> {
  if ((await orNull(stat(root)))?.isDirectory() !== true) throw repositoryGone(root)
  const plain = await peekCommonDir(root)
  if (plain !== null) return plain
  const args = ['rev-parse', '--path-format=absolute', '--git-common-dir', '--show-prefix']
  const { exit_code, stdout } = await runGit(root, args, { signal, accept: [0, 128] })
  const [common = '', prefix = ''] = stdout.toString('utf8').split('\n')
  // The path may lie in another repository, which git would use instead.
  if (exit_code !== 0 || prefix !== '') throw repositoryGone(root)
  return common
}

function repositoryGone(root: string): WorkspaceError {
  return new WorkspaceError(
    'repository_missing',
    `No git repository at ${root}. If you moved it, update its path ` + '(Settings, Repositories), then try again.',
  )
}

/** Returns whether a repository has a worktree at `path`: its own, or one whose repository was moved here. */
export async function isKnownTo(common: string, path: string): Promise<boolean> {
  const record = await findRecord(common, path)
  if (record === null) return false
  const link = await readGitLink(path)
  const led = link === null ? null : await orNull(realpath(link))
  return led === null ? link !== null : led === (await realpath(record))
}

/**
 * Repairs the link from a worktree to its repository after either was moved. If the link leads to anything but its
 * own record, someone replaced it, and git would repair the wrong end.
 */
export async function relinkWorktree(repo: string, path: string, options: Cancellable): Promise<void> {
  const link = await readGitLink(path)
  if (link === null || (await orNull(stat(link))) !== null) return
  if ((await findRecord(await requireRepository(repo, options), path)) === null) return
  await repairWorktree(repo, path, options)
  await keepFilesHere(path, options)
}
