import { lstat, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { WorkspaceError } from '../../ports/workspace-error.ts'
import type { BranchRef } from '../../ports/branch-ref.ts'
import { orNull } from '../files/file-errors.ts'
import { keepFilesHere, ownRecord } from '../commands/own-worktree.ts'
import { runGit } from '../commands/run-git.ts'
import { addWorktree, commonDir, findRecord, repairWorktree } from '../commands/worktree.ts'
import type { RescueOptions } from '../rescue/rescue.ts'
import { keepInner } from './submodules.ts'

/**
 * Links a worktree to its repository again; its files stay. A repository that took the place of the link is kept as a
 * rescue first. Without a record in the repository, makes one for the task's branch.
 */
export async function mendLink(
  { repo_path: repo, path, branch }: Pick<BranchRef, 'repo_path' | 'branch'> & { readonly path: string },
  task: string,
  options: Omit<RescueOptions, 'reason'>,
): Promise<void> {
  const { signal } = options
  const link = join(path, '.git')
  const common = await commonDir(repo, { signal })
  const found = await orNull(lstat(link))
  if (found?.isDirectory()) await keepInner(repo, path, '.', task, { ...options, reason: 'nested' })
  if (found !== null) await rm(link, { recursive: true, force: true, maxRetries: 3 })
  const record = await findRecord(common, path)
  if (record === null) await makeRecord(repo, path, branch, { signal })
  else await writeFile(link, `gitdir: ${record}\n`)
  if ((await ownRecord(path, { signal })) !== null) return
  throw new WorkspaceError(
    'outside_worktree',
    `${path} could not be linked to its repository again. Its files are still there. Reset the workspace.`,
  )
}

/** Makes a worktree beside the folder and moves its link there, because git adds none to a folder with files. */
async function makeRecord(
  repo: string,
  path: string,
  branch: string,
  { signal }: Pick<RescueOptions, 'signal'>,
): Promise<void> {
  const aside = await mkdtemp(join(dirname(path), '.link-'))
  try {
    const place = join(aside, 'worktree')
    await addWorktree(repo, place, { branch, start: null }, { signal })
    await rename(join(place, '.git'), join(path, '.git'))
    await repairWorktree(repo, path, { signal })
    await keepFilesHere(path, { signal })
    await runGit(path, ['read-tree', 'HEAD'], { signal, access: 'write' })
  } finally {
    await rm(aside, { recursive: true, force: true })
  }
}
