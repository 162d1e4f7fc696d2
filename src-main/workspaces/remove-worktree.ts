import type { KeyedLock } from '../base/keyed-lock.ts'
import { WorkspaceError } from '../engine/ports.ts'
import type { Cancellable } from '../engine/ports.ts'
import { branchRef, currentBranch, resolveCommit } from './git/branch.ts'
import { runGit } from './git/run-git.ts'
import { commonDir, findRecord, readGitLink, removeWorktree } from './git/worktree.ts'
import { realpathOfExisting } from './path-guard.ts'
import { keepUnlessReachable, rescueUncommitted } from './rescue.ts'
import { folderState, setAside } from './set-aside.ts'

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
  /** The folder holds what no commit can keep, or is no worktree: it was renamed instead of removed. */
  readonly onSetAside: (move: { readonly from: string; readonly to: string }) => void
}

/** Removes a worktree, and its branch when told. What no other ref leads to is kept under `refs/svc/rescue` first. */
export async function removeWorktreeSafely(given: RemoveRequest, options: RemoveOptions): Promise<void> {
  const { signal, repositories } = options
  const request = { ...given, path: await realpathOfExisting(given.path) }
  const common = await commonDir(request.repo_path, { signal })
  await repositories.run(common, async () => {
    await removeFolder(request, common, options)
    if (request.branch !== undefined && request.delete_branch === true) {
      await deleteBranch(request, request.branch, options)
    }
  })
}

async function removeFolder(request: RemoveRequest, common: string, options: RemoveOptions): Promise<void> {
  const { repo_path: repo, path } = request
  const { signal } = options
  const record = await findRecord(common, path)
  const filled = (await folderState(path)) === 'filled'
  const link = filled ? await readGitLink(path) : null
  const isWorktree =
    link !== null && record !== null && (await realpathOfExisting(link)) === (await realpathOfExisting(record))
  const allKept = !filled || (isWorktree && (await keepWork(request, options)))
  signal.throwIfAborted()
  if (!allKept || !isWorktree) {
    const aside = await setAside(path)
    if (aside !== null) options.onSetAside({ from: path, to: aside })
  }
  if (record !== null) await removeWorktree(repo, path, { signal })
}

/** Whether all of the work is in commits that some ref keeps. */
async function keepWork(request: RemoveRequest, options: RemoveOptions): Promise<boolean> {
  const { path, task_id: task } = request
  const { ref, complete } = await rescueUncommitted(path, task, options)
  const head = await resolveCommit(path, 'HEAD', options)
  const onBranch = (await currentBranch(path, options)) !== null
  // A detached HEAD's commits go with the worktree; a rescue commit has them as its history.
  if (ref === null && head !== null && !onBranch) await keepUnlessReachable(path, head, task, options)
  return complete
}

async function deleteBranch(request: RemoveRequest, branch: string, options: RemoveOptions): Promise<void> {
  const { repo_path: repo, task_id: task } = request
  const { signal } = options
  const tip = await resolveCommit(repo, branchRef(branch), { signal })
  if (tip === null) return
  await keepUnlessReachable(repo, tip, task, { ...options, except: branchRef(branch) })
  const { exit_code, stderr } = await runGit(repo, ['branch', '--quiet', '-D', '--', branch], {
    signal,
    access: 'write',
    accept: [0, 1],
  })
  if (exit_code === 0) return
  throw new WorkspaceError('git_failed', `The branch ${branch} could not be deleted. git says: ${stderr.trim()}`)
}
