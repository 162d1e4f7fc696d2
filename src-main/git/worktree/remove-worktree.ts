import { realpath } from 'node:fs/promises'
import type { KeyedLock } from '../../platform/locks/keyed-lock.ts'
import { WorkspaceError } from '../../ports/workspace-error.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { branchRef, resolveCommit } from '../commands/branch.ts'
import { noteOwnMove } from '../commands/own-moves.ts'
import { deleteRef } from '../commands/refs.ts'
import { runGit } from '../commands/run-git.ts'
import { withSnapshot } from '../commands/snapshot.ts'
import { commonDir, findRecord, pruneWorktree } from '../commands/worktree.ts'
import { rescueUnreachable } from '../rescue/unreachable-commits.ts'
import { ownRecord } from '../commands/own-worktree.ts'
import { isInside, resolveParent, realpathOfExisting } from '../files/path-guard.ts'
import { removeRescued, changedDuringRemoval, undoRemoval } from '../rescue/remove-rescued.ts'
import { rescueStaged } from '../rescue/rescue-staged.ts'
import { rescueIfUnreachable, rescueUncommitted, type KeptFiles, type RescueOptions } from '../rescue/rescue.ts'
import { quarantine } from '../files/quarantine.ts'
import { listLeft } from '../view/left-refs.ts'
import { keepSubmodules } from './submodules.ts'

export interface RemoveRequest {
  readonly repo_path: string
  readonly path: string
  readonly task_id: string
  readonly branch?: string
  readonly delete_branch?: boolean
}

export interface RemoveOptions extends Cancellable {
  readonly now: () => number
  readonly repositories: KeyedLock
  /**
   * Called when the folder holds files that no commit can contain, or is no worktree, so that it was renamed instead
   * of removed.
   */
  readonly onSetAside: (move: { readonly from: string; readonly to: string }) => void
}

/** Removes a worktree, and its branch if requested. First saves under `refs/svc/rescue` what no other ref leads to. */
export async function removeWorktreeSafely(given: RemoveRequest, options: RemoveOptions): Promise<void> {
  await inRepository(given, options, async (request, common) => {
    await removeFolder(request, common, { ...options, reason: 'removal' })
    if (request.branch !== undefined && request.delete_branch === true) {
      await deleteBranch(request, request.branch, { ...options, reason: 'branch_deleted' })
    }
  })
}

/**
 * Removes a worktree and its branch, so that the task starts from its base again. First saves all of its work;
 * returns the rescue ref of the newest part, null if there was nothing to save.
 */
export async function discardWorktree(
  given: RemoveRequest & { readonly branch: string },
  options: RemoveOptions,
): Promise<string | null> {
  return await inRepository(given, options, async (request, common) => {
    const uncommitted = await removeFolder(request, common, { ...options, reason: 'discard' })
    const committed = await deleteBranch(request, given.branch, { ...options, reason: 'discard' })
    return uncommitted ?? committed
  })
}

/** Refuses to remove the repository itself or a folder around it. */
async function inRepository<T>(
  given: RemoveRequest,
  { signal, repositories }: RemoveOptions,
  work: (request: RemoveRequest, common: string) => Promise<T>,
): Promise<T> {
  const request = { ...given, path: await resolveParent(given.path) }
  if (isInside(request.path, await realpathOfExisting(request.repo_path))) {
    throw new WorkspaceError('outside_worktree', `${request.path} holds the repository itself; nothing was removed.`)
  }
  const common = await commonDir(request.repo_path, { signal })
  return await repositories.run(common, () => work(request, common))
}

/**
 * Removes the folder and the repository's record of it; returns the ref of unsaved work, or null. Renames a folder
 * that is no worktree or that no commit can contain. Refuses if something can't be saved.
 */
async function removeFolder(
  request: RemoveRequest,
  common: string,
  options: RemoveOptions & RescueOptions,
): Promise<string | null> {
  const { repo_path: repo, path, task_id: task } = request
  await undoRemoval(path)
  const record = await findRecord(common, path)
  const gitDir = await ownRecord(path, options)
  const isWorktree = gitDir !== null && record !== null && (await realpath(gitDir)) === (await realpath(record))
  const work = isWorktree ? await keepWork(request, record, options) : null
  // For a worktree without a folder, the repository still has the staged changes and HEAD.
  const staged = record === null || isWorktree ? null : await rescueStaged(repo, record, task, options)
  const left = await listLeft(repo, common, path, options)
  const loose =
    record === null ? null : await rescueUnreachable(repo, record, task, { ...options, left: [...left.values()] })
  options.signal.throwIfAborted()
  if (work?.complete === true) await removeRescued(path, work.isAsKept, options)
  else {
    const aside = await quarantine(path)
    if (aside !== null) options.onSetAside({ from: path, to: aside })
  }
  if (record !== null) {
    for (const [ref, commit] of left) await deleteRef(repo, ref, commit, options)
    await pruneWorktree(record)
  }
  return work?.ref ?? staged ?? loose
}

/**
 * Saves uncommitted work, also in submodules; returns its ref, whether commits can contain all of it, and a check that
 * it is unchanged.
 */
async function keepWork(request: RemoveRequest, record: string, options: RescueOptions) {
  const { repo_path: repo, path, task_id: task } = request
  const { signal } = options
  const submodules = await keepSubmodules(repo, path, task, options)
  const { ref, complete, kept } = await rescueUncommitted(path, task, { ...options, git_dir: record })
  const isSame = async (one: KeptFiles, place: string, git_dir?: string): Promise<boolean> =>
    await withSnapshot(
      place,
      { signal, ...(git_dir !== undefined && { git_dir }) },
      ({ tree, staged, complete: readable }) => Promise.resolve(readable && tree === one.tree && staged === one.staged),
    )
  // Git can't read submodules of a renamed folder, so their last check comes before the rename.
  const early = submodules.length > 0
  if (early && complete) {
    for (const one of submodules) if (!(await isSame(one.kept, one.path))) throw changedDuringRemoval(one.path)
    if (!(await isSame(kept, path, record))) throw changedDuringRemoval(path)
  }
  return {
    ref: ref ?? submodules.find((one) => one.ref !== null)?.ref ?? null,
    complete,
    isAsKept: async (folder: string): Promise<boolean> => early || (await isSame(kept, folder, record)),
  }
}

/** Deletes a branch; returns the ref that keeps its commits, null if others lead to them or there is no such branch. */
async function deleteBranch(
  request: Pick<RemoveRequest, 'repo_path' | 'task_id'>,
  branch: string,
  options: RescueOptions,
): Promise<string | null> {
  const { repo_path: repo, task_id: task } = request
  const { signal } = options
  const tip = await resolveCommit(repo, branchRef(branch), { signal })
  if (tip === null) return null
  const ref = await rescueIfUnreachable(repo, tip, task, { ...options, except: branchRef(branch) })
  noteOwnMove(branchRef(branch), null)
  const { exit_code, stderr } = await runGit(repo, ['branch', '--quiet', '-D', '--', branch], {
    signal,
    access: 'write',
    accept: [0, 1],
  })
  if (exit_code === 0) return ref
  throw new WorkspaceError('git_failed', `The branch ${branch} could not be deleted. git says: ${stderr.trim()}`)
}
