import { mkdir, rm } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import type { Containment } from '../../ports/containment.ts'
import type { KeyedLock } from '../../platform/locks/keyed-lock.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { WorkspaceError } from '../../ports/workspace-error.ts'
import type { WorktreeRequest, WorktreeResult } from '../../ports/worktree-store.ts'
import { explainAdd, explainCheckout } from './explain-checkout.ts'
import { branchRef, branchTips, mergeBase, resolveBase } from '../commands/branch.ts'
import { checkOutFiles, readCheckoutSettings, type CheckoutSettings } from '../commands/checkout.ts'
import { peekTips } from '../commands/peek.ts'
import { deleteRef } from '../commands/refs.ts'
import { readGitLink } from '../commands/git-link.ts'
import { keepFilesHere, ownRecord } from '../commands/own-worktree.ts'
import { addWorktree, findRecord, pruneIncomplete, pruneWorktree } from '../commands/worktree.ts'
import { rescueUnreachable } from '../rescue/unreachable-commits.ts'
import { rescueStaged } from '../rescue/rescue-staged.ts'
import { recordTip } from '../rescue/branch-tip.ts'
import { quarantine } from '../files/quarantine.ts'

export interface EnsureOptions extends Cancellable {
  readonly now: () => number
  readonly repositories: KeyedLock
  /** Called when a folder that was no worktree was in the way and was renamed. */
  readonly onSetAside: (move: { readonly from: string; readonly to: string }) => void
  /** Called when the repository's `post-checkout` hook failed in a new worktree, which is usable without it. */
  readonly onHookFailed?: (failure: { readonly path: string; readonly exit_code: number | null }) => void
  /** Without it, setup commands are not contained. */
  readonly containment?: Pick<Containment, 'box'> | undefined
}

/** A worktree without its files. */
export interface PreparedWorktree {
  readonly kind: 'begun'
  readonly mayHaveHook: boolean
  /** Writes the files. On a failure or cancel, removes the worktree, and the branch if it was new. */
  finish(): Promise<Extract<WorktreeResult, { kind: 'ready' }>>
}

interface Made {
  readonly repo: string
  /** The folder of the repository that all its worktrees share. */
  readonly common: string
  readonly path: string
  readonly branch: string
  /** The commit that the worktree is on. */
  readonly tip: string
  readonly base: string | null
  readonly isNewBranch: boolean
}

/**
 * Creates a worktree without its files. Only this step needs the repository exclusively; `finish` writes the files,
 * which takes long in a big repository, in parallel with others.
 */
export async function prepareWorktree(
  request: WorktreeRequest,
  common: string,
  options: EnsureOptions,
): Promise<PreparedWorktree | Extract<WorktreeResult, { kind: 'branch_gone' }>> {
  const { repo_path: repo, path, branch, base_branch: baseBranch } = request
  const { signal } = options
  const [peeked, settings, record] = await Promise.all([
    peekTips(common, [branch, baseBranch]),
    readCheckoutSettings(repo, common, { signal }),
    findRecord(common, path),
  ])
  const tips = peeked ?? (await branchTips(repo, [branch, baseBranch], { signal }))
  const known = tips.get(branch)
  if (record !== null) {
    const keep = { ...options, reason: 'lost' } as const
    await rescueStaged(repo, record, taskOf(request), keep)
    await rescueUnreachable(repo, record, taskOf(request), keep)
  }
  if (known === undefined && request.expect === 'existing') return { kind: 'branch_gone' }
  const base = tips.get(baseBranch) ?? (await resolveBase(repo, baseBranch, { signal }))
  const tip = known ?? base
  if (tip === null) throw baseBranchMissing(request)

  const aside = await quarantine(path)
  if (aside !== null) options.onSetAside({ from: path, to: aside })
  if (record !== null) await pruneWorktree(record)
  await mkdir(dirname(path), { recursive: true })
  const made: Made = { repo, common, path, branch, tip, base, isNewBranch: known === undefined }
  try {
    await addWorktree(repo, path, { branch, start: known === undefined ? tip : null }, { signal })
  } catch (error) {
    await Promise.allSettled([signal.aborted ? takeApart(made) : takeBackNames(made)])
    throw await explainAdd(repo, branch, error, { signal })
  }
  try {
    await requireFilesHere(path, { signal })
  } catch (error) {
    await Promise.allSettled([takeApart(made)])
    throw error
  }
  return {
    kind: 'begun',
    mayHaveHook: settings.mayHaveHook,
    finish: () => finish(made, taskOf(request), settings, options),
  }
}

async function finish(
  made: Made,
  task: string,
  settings: CheckoutSettings,
  options: EnsureOptions,
): Promise<Extract<WorktreeResult, { kind: 'ready' }>> {
  const { repo, path, tip, base, isNewBranch } = made
  const { signal } = options
  const fork = isNewBranch || base === null ? base : mergeBase(repo, base, tip, { signal })
  // Wait for all of them before anything that they use is removed.
  const [noted, written, forked] = await Promise.allSettled([
    recordTip(path, tip, task, options),
    checkOutFiles(path, settings, { signal }),
    fork,
  ])
  if (noted.status === 'fulfilled' && written.status === 'fulfilled' && forked.status === 'fulfilled') {
    return { kind: 'ready', how: isNewBranch ? 'created' : 'recovered', base_commit: forked.value ?? tip }
  }
  // A later request for the worktree sets aside what can't be removed now.
  await Promise.allSettled([takeApart(made)])
  signal.throwIfAborted()
  if (written.status === 'rejected') throw await explainCheckout(repo, tip, written.reason, { signal })
  throw noted.status === 'rejected' ? noted.reason : (forked as PromiseRejectedResult).reason
}

/** Refuses before anything is checked out where git would write the files of a new worktree to another folder. */
export async function requireFilesHere(path: string, { signal }: Cancellable): Promise<void> {
  await keepFilesHere(path, { signal })
  if ((await ownRecord(path, { signal })) !== null) return
  throw new WorkspaceError(
    'outside_worktree',
    `Git would write the files of the new worktree ${path} to another folder. Nothing was checked out. ` +
      "Look at core.worktree and core.bare in the repository's configuration, then try again.",
  )
}

/** Removes a worktree in which no one has worked yet: all files were just written by git. */
async function takeApart(made: Made): Promise<void> {
  const record = await readGitLink(made.path)
  // Workers of an interrupted checkout may still write a file.
  await rm(made.path, { recursive: true, force: true, maxRetries: 3 })
  if (record !== null) await pruneWorktree(record)
  await takeBackNames(made)
}

/** Removes the repository's record of a worktree that was not created, or is gone. */
async function takeBackNames(made: Made): Promise<void> {
  await pruneIncomplete(made.common, made.path)
  if (made.isNewBranch) await dropBranch(made)
}

/** Deletes the new branch. Takes no signal, because a cancelled creation must be cleaned up too. */
async function dropBranch({ repo, branch, tip }: Made): Promise<void> {
  await deleteRef(repo, branchRef(branch), tip, { signal: AbortSignal.timeout(10_000) })
}

/** Returns the task under which rescues are saved. */
export const taskOf = (request: WorktreeRequest): string => request.task_id ?? basename(request.path)

/** Creates the error of a worktree without a base to start from. */
export function baseBranchMissing(request: WorktreeRequest): WorkspaceError {
  return new WorkspaceError(
    'git_failed',
    `The base branch “${request.base_branch}” is not in ${request.repo_path}. Choose another base branch or create it.`,
  )
}
