import { basename, resolve } from 'node:path'
import type { Orphan, RemovedOrphan } from '../../../src-shared/contract/orphans.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { WorkspaceError } from '../../ports/workspace-error.ts'
import { estimateFolder } from '../files/folder-size.ts'
import { currentBranch } from '../commands/branch.ts'
import { GitError } from '../commands/git-error.ts'
import { isDirty } from '../commands/status.ts'
import { listWorktrees } from '../commands/worktree.ts'
import { worktreeFolders } from './lock.ts'
import { ownRecord } from '../commands/own-worktree.ts'
import { resolveParent } from '../files/path-guard.ts'
import { removingPath } from '../rescue/remove-rescued.ts'
import { listRescues } from '../rescue/rescue-list.ts'
import { removeWorktreeSafely, type RemoveOptions } from './remove-worktree.ts'
import { rescueFolder } from './rescue-folder.ts'

/** Maximum number of files that an estimate counts. */
const glanceLimit = 20_000

/**
 * Returns the worktree folders below the root that are not in `known`, sorted. One that is being removed counts as
 * known.
 */
export async function findOrphans(root: string, known: readonly string[]): Promise<readonly string[]> {
  const places = await Promise.all(known.map((path) => resolveParent(resolve(path))))
  const expected = new Set(places.flatMap((path) => [path, removingPath(path)]))
  const orphans: string[] = []
  for (const path of await worktreeFolders(root)) {
    if (!expected.has(await resolveParent(path))) orphans.push(path)
  }
  return orphans
}

/** Describes the content of an unknown folder, null if it is gone. Sizes are of the files, not of disk blocks. */
export async function describeOrphan(path: string, { signal }: Cancellable): Promise<Orphan | null> {
  const glance = await estimateFolder(path, glanceLimit, { signal })
  if (glance === null) return null
  const repo = await repositoryOf(path, { signal })
  if (repo === null) return { path, kind: 'folder', branch: null, repo_path: null, dirty: true, ...glance }
  const branch = await currentBranch(path, { signal })
  return { path, kind: 'worktree', branch, repo_path: repo, dirty: await isMaybeDirty(path, { signal }), ...glance }
}

async function isMaybeDirty(path: string, { signal }: Cancellable): Promise<boolean> {
  try {
    return await isDirty(path, { signal })
  } catch (error) {
    // A crash may have truncated its index.
    if (error instanceof GitError && error.code === 'failed') return true
    throw error
  }
}

/** Saves what no branch has, then removes the folder. Removes nothing of a folder that can't be saved. */
export async function removeOrphan(
  given: string,
  fallback: string | null,
  options: RemoveOptions,
): Promise<RemovedOrphan> {
  const { signal } = options
  const path = await resolveParent(given)
  const repo = await repositoryOf(path, { signal })
  const task_id = rescueName(path)
  if (repo === null) {
    if (fallback === null) {
      throw new WorkspaceError(
        'not_a_git_repository',
        `${path} belongs to no repository that still exists, so nothing in it can be kept. ` +
          'Check it and delete it by hand.',
      )
    }
    const ref = await rescueFolder(path, fallback, task_id, options)
    return { path: given, rescues: ref === null ? [] : [ref], moved_to: null }
  }
  const before = new Set((await listRescues(repo, task_id, { signal })).map((one) => one.ref))
  let moved: string | null = null
  const onSetAside = (move: { readonly from: string; readonly to: string }): void => {
    moved = move.to
    options.onSetAside(move)
  }
  await removeWorktreeSafely({ repo_path: repo, path, task_id }, { ...options, onSetAside })
  const rescueRefs = (await listRescues(repo, task_id, { signal })).map((one) => one.ref)
  return { path: given, rescues: rescueRefs.filter((ref) => !before.has(ref)), moved_to: moved }
}

/** Returns the root of the repository of a worktree, if both refer to each other; null for any other folder. */
async function repositoryOf(path: string, { signal }: Cancellable): Promise<string | null> {
  try {
    const record = await ownRecord(path, { signal })
    return record === null ? null : ((await listWorktrees(path, { signal }))[0]?.path ?? null)
  } catch (error) {
    // Its repository is gone, or the link's target is none.
    if (error instanceof GitError && error.code === 'failed') return null
    throw error
  }
}

/**
 * Returns the task for the rescue's ref: `{task id}.broken-2` belongs to that task. Replaces characters that a ref
 * can't contain.
 */
function rescueName(path: string): string {
  const name = basename(path)
    .replace(/\.broken-\d+$/, '')
    .replaceAll(/[^A-Za-z0-9-]+/g, '-')
    .slice(0, 100)
  return /[A-Za-z0-9]/.test(name) ? name : 'orphan'
}
