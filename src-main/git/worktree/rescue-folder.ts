import { readdir } from 'node:fs/promises'
import { WorkspaceError } from '../../ports/workspace-error.ts'
import { commitTree } from '../commands/commit.ts'
import { countChanged } from '../commands/count-files.ts'
import { emptyTree } from '../commands/merge.ts'
import { withSnapshot } from '../commands/snapshot.ts'
import { commonDir } from '../commands/worktree.ts'
import { removeRescued } from '../rescue/remove-rescued.ts'
import type { RemoveOptions } from './remove-worktree.ts'
import { rescueCommit } from '../rescue/rescue.ts'

/**
 * Saves the files of a plain folder as a rescue of a repository, then removes the folder; returns the ref, null if it
 * had no files. Leaves out files that its `.gitignore` names. Refuses a folder that commits can't contain: with
 * repositories in it, or unreadable files.
 */
export async function rescueFolder(
  path: string,
  repo: string,
  task: string,
  options: RemoveOptions,
): Promise<string | null> {
  const { signal } = options
  const git_dir = await commonDir(repo, { signal })
  const look = (folder: string): Promise<string> =>
    withSnapshot(folder, { signal, git_dir, plain: true }, ({ tree, complete }) => {
      if (!complete) throw notKept(path)
      return Promise.resolve(tree)
    })
  if (await hasRepositories(path)) throw notKept(path)
  const tree = await look(path)
  const empty = await emptyTree(repo, { signal })
  const keep = async (): Promise<string> => {
    const message = `What was in a folder left over from task ${task}\n`
    const commit = await commitTree(repo, { tree, parents: [], message }, { signal })
    const files = await countChanged(repo, empty, tree, { signal })
    return await rescueCommit(repo, commit, task, { ...options, reason: 'removal', note: { kind: 'commits', files } })
  }
  const ref = tree === empty ? null : await keep()
  await removeRescued(path, async (folder) => (await look(folder)) === tree, { signal })
  return ref
}

/**
 * Returns whether the folder contains repositories. A file `.git` at the top is the link of a worktree that its
 * repository forgot.
 */
async function hasRepositories(path: string): Promise<boolean> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  return entries.some((entry) => entry.name === '.git' && (entry.parentPath !== path || entry.isDirectory()))
}

function notKept(path: string): WorkspaceError {
  return new WorkspaceError(
    'not_a_git_repository',
    `${path} holds repositories or files that could not be kept, so nothing was removed. ` +
      'Check it and delete it by hand.',
  )
}
