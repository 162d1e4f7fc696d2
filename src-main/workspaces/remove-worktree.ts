import type { KeyedLock } from '../base/keyed-lock.ts'
import { WorkspaceError } from '../engine/ports.ts'
import type { Cancellable } from '../engine/ports.ts'
import { branchRef, currentBranch, resolveCommit } from './git/branch.ts'
import { runGit } from './git/run-git.ts'
import { commonDir, findRecord, readGitLink, removeWorktree } from './git/worktree.ts'
import { isInside, realpathOfExisting } from './path-guard.ts'
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
  await refuseRepository(request)
  const common = await commonDir(request.repo_path, { signal })
  await repositories.run(common, async () => {
    await removeFolder(request, common, options)
    if (request.branch !== undefined && request.delete_branch === true) {
      await deleteBranch(request, request.branch, options)
    }
  })
}

/** The repository itself is no worktree of a task: neither it nor a folder around it is ever taken away. */
export async function refuseRepository({ path, repo_path: repo }: Pick<RemoveRequest, 'path' | 'repo_path'>) {
  if (!isInside(path, await realpathOfExisting(repo))) return
  throw new WorkspaceError('outside_worktree', `${path} holds the repository itself; nothing was removed.`)
}

/** Removes the folder and the repository's record of it; the ref that keeps what was in no branch, null without. */
export async function removeFolder(
  request: RemoveRequest,
  common: string,
  options: RemoveOptions,
): Promise<string | null> {
  const { repo_path: repo, path } = request
  const { signal } = options
  const record = await findRecord(common, path)
  const filled = (await folderState(path)) === 'filled'
  const link = filled ? await readGitLink(path) : null
  const isWorktree =
    link !== null && record !== null && (await realpathOfExisting(link)) === (await realpathOfExisting(record))
  const kept = isWorktree ? await keepWork(request, options) : { ref: null, complete: !filled }
  signal.throwIfAborted()
  if (!kept.complete || !isWorktree) {
    const aside = await setAside(path)
    if (aside !== null) options.onSetAside({ from: path, to: aside })
  }
  if (record !== null) await removeWorktree(repo, path, { signal })
  return kept.ref
}

/** Keeps the work that is in no branch; whether commits can hold all of it. */
async function keepWork(request: RemoveRequest, options: RemoveOptions) {
  const { path, task_id: task } = request
  const { ref, complete } = await rescueUncommitted(path, task, options)
  const head = await resolveCommit(path, 'HEAD', options)
  const onBranch = (await currentBranch(path, options)) !== null
  // A detached HEAD's commits go with the worktree; a rescue commit has them as its history.
  const isLoose = ref === null && head !== null && !onBranch
  return { ref: isLoose ? await keepUnlessReachable(path, head, task, options) : ref, complete }
}

/** Deletes a branch; the ref that keeps its commits, null when others lead to them or there is no such branch. */
export async function deleteBranch(
  request: Pick<RemoveRequest, 'repo_path' | 'task_id'>,
  branch: string,
  options: RemoveOptions,
): Promise<string | null> {
  const { repo_path: repo, task_id: task } = request
  const { signal } = options
  const tip = await resolveCommit(repo, branchRef(branch), { signal })
  if (tip === null) return null
  const ref = await keepUnlessReachable(repo, tip, task, { ...options, except: branchRef(branch) })
  const { exit_code, stderr } = await runGit(repo, ['branch', '--quiet', '-D', '--', branch], {
    signal,
    access: 'write',
    accept: [0, 1],
  })
  if (exit_code === 0) return ref
  throw new WorkspaceError('git_failed', `The branch ${branch} could not be deleted. git says: ${stderr.trim()}`)
}
