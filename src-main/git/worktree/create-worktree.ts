import { mkdir, rm } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import type { Containment } from '../../ports/containment.ts'
import type { KeyedLock } from '../../platform/locks/keyed-lock.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { WorkspaceError } from '../../ports/workspaces.ts'
import type { WorktreeRequest, WorktreeResult } from '../../ports/workspaces.ts'
import { explainAdd, explainCheckout } from './explain-checkout.ts'
import { branchRef, branchTips, mergeBase, resolveBase } from '../commands/branch.ts'
import { checkOutFiles, readCheckoutSettings, type CheckoutSettings } from '../commands/checkout.ts'
import { deleteRef } from '../commands/refs.ts'
import { readGitLink } from '../commands/git-link.ts'
import { addWorktree, findRecord, pruneIncomplete, pruneWorktree } from '../commands/worktree.ts'
import { rescueUnreachable } from '../rescue/unreachable-commits.ts'
import { rescueStaged } from '../rescue/rescue-staged.ts'
import { recordTip } from '../rescue/branch-tip.ts'
import { quarantine } from '../files/quarantine.ts'

export interface EnsureOptions extends Cancellable {
  readonly now: () => number
  readonly repositories: KeyedLock
  /** A folder that was no worktree stood in the way and was renamed. */
  readonly onSetAside: (move: { readonly from: string; readonly to: string }) => void
  /** The repository's `post-checkout` hook failed in a new worktree, which is as good without it. */
  readonly onHookFailed?: (failure: { readonly path: string; readonly exit_code: number | null }) => void
  /** Without it no setup command is contained. */
  readonly containment?: Pick<Containment, 'box'> | undefined
}

/** A worktree that is there, but for its files. */
export interface PreparedWorktree {
  readonly kind: 'begun'
  readonly mayHaveHook: boolean
  /** Writes its files. When that fails, or is cancelled, the worktree is gone again, with the branch if it was new. */
  finish(): Promise<Extract<WorktreeResult, { kind: 'ready' }>>
}

interface Made {
  readonly repo: string
  /** The folder of the repository that all its worktrees share. */
  readonly common: string
  readonly path: string
  readonly branch: string
  /** What the worktree is on. */
  readonly tip: string
  readonly base: string | null
  readonly isNewBranch: boolean
}

/**
 * Makes a worktree without its files. Only this needs the repository to itself; the files, which take their time in a
 * big repository, are written by `finish`, while others do the same.
 */
export async function prepareWorktree(
  request: WorktreeRequest,
  common: string,
  options: EnsureOptions,
): Promise<PreparedWorktree | Extract<WorktreeResult, { kind: 'branch_gone' }>> {
  const { repo_path: repo, path, branch, base_branch: baseBranch } = request
  const { signal } = options
  const [tips, settings, record] = await Promise.all([
    branchTips(repo, [branch, baseBranch], { signal }),
    readCheckoutSettings(repo, common, { signal }),
    findRecord(common, path),
  ])
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
  // All have ended before anything is taken away from under them.
  const [noted, written, forked] = await Promise.allSettled([
    recordTip(path, tip, task, options),
    checkOutFiles(path, settings, { signal }),
    fork,
  ])
  if (noted.status === 'fulfilled' && written.status === 'fulfilled' && forked.status === 'fulfilled') {
    return { kind: 'ready', how: isNewBranch ? 'created' : 'recovered', base_commit: forked.value ?? tip }
  }
  // What can't be removed now is set aside by the next one who wants the worktree.
  await Promise.allSettled([takeApart(made)])
  signal.throwIfAborted()
  if (written.status === 'rejected') throw await explainCheckout(repo, tip, written.reason, { signal })
  throw noted.status === 'rejected' ? noted.reason : (forked as PromiseRejectedResult).reason
}

/** Nobody has worked in it yet: what is there was written by git a moment ago. */
async function takeApart(made: Made): Promise<void> {
  const record = await readGitLink(made.path)
  // Workers of an interrupted checkout may write one more file.
  await rm(made.path, { recursive: true, force: true, maxRetries: 3 })
  if (record !== null) await pruneWorktree(record)
  await takeBackNames(made)
}

/** What the repository knows of a worktree that was not made, or is no more. */
async function takeBackNames(made: Made): Promise<void> {
  await pruneIncomplete(made.common, made.path)
  if (made.isNewBranch) await dropBranch(made)
}

/** Without the signal: what was begun is cleaned up also when it was cancelled. */
async function dropBranch({ repo, branch, tip }: Made): Promise<void> {
  await deleteRef(repo, branchRef(branch), tip, { signal: AbortSignal.timeout(10_000) })
}

/** Whose rescues are made. */
export const taskOf = (request: WorktreeRequest): string => request.task_id ?? basename(request.path)

/** The failure of a worktree that has nothing to begin from. */
export function baseBranchMissing(request: WorktreeRequest): WorkspaceError {
  return new WorkspaceError(
    'git_failed',
    `The base branch "${request.base_branch}" is not in ${request.repo_path}. Choose another base branch or create it.`,
  )
}
