import { realpath, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { WorkspaceError } from '../../ports/workspaces.ts'
import type { WorktreeRequest, WorktreeResult } from '../../ports/workspaces.ts'
import { copyFiles } from '../files/copy-files.ts'
import {
  baseBranchMissing,
  prepareWorktree,
  taskOf,
  type EnsureOptions,
  type PreparedWorktree,
} from './create-worktree.ts'
import { excludeLock, isLockExcluded } from './exclude-lock.ts'
import { orNull } from '../files/file-errors.ts'
import { isHealthy, isWhole } from './found-worktree.ts'
import { branchRef, currentBranch, mergeBase, resolveBase, resolveCommit } from '../commands/branch.ts'
import { runCheckoutHook } from '../commands/checkout.ts'
import { peekCommonDir, peekHead } from '../commands/peek.ts'
import { runGit } from '../commands/run-git.ts'
import { isDirty } from '../commands/status.ts'
import { isBeingRebased } from '../commands/unfinished.ts'
import { readGitLink } from '../commands/git-link.ts'
import { commonDir } from '../commands/worktree.ts'
import { placeOf } from '../files/path-guard.ts'
import { undoRemoval } from '../rescue/remove-rescued.ts'
import { rescueIfUnreachable } from '../rescue/rescue.ts'
import { recordTip } from '../rescue/branch-tip.ts'
import { runSetup } from './set-up-worktree.ts'

// A hook that fails would look as if the switch had failed.
const noHooks = ['-c', 'core.hooksPath=/dev/null']

/** In the worktree's own git folder: its setup ran to the end. Without it, a crash came first, and setup runs again. */
const setupDone = 'svc-ready'

/** Makes the worktree be there, on its branch, set up. Never removes a file: what is no worktree is renamed. */
export async function ensureWorktree(given: WorktreeRequest, options: EnsureOptions): Promise<WorktreeResult> {
  const { signal } = options
  const request = { ...given, path: await placeOf(given.path) }
  const common = (await peekCommonDir(request.repo_path)) ?? (await commonDir(request.repo_path, { signal }))
  const found = (await findReady(request, common, options)) ?? (await findOrBegin(request, common, options))
  const result = found.kind === 'begun' ? await found.finish() : found
  if (result.kind === 'ready') await setUp(request, common, options, found.kind !== 'begun' || found.mayHaveHook)
  return result
}

/** What of it changes the repository's refs and worktrees, one at a time. */
async function findOrBegin(
  request: WorktreeRequest,
  common: string,
  options: EnsureOptions,
): Promise<WorktreeResult | PreparedWorktree> {
  return await options.repositories.run(common, async () => {
    await excludeLock(common)
    await undoRemoval(request.path)
    if (await isHealthy(request, common, options)) return await reuse(request, options)
    return await prepareWorktree(request, common, options)
  })
}

/**
 * A worktree in which nothing has to be put right, as a later claim finds it. It waits for nobody else in the
 * repository: it notes what it sees in this worktree's own folder, and a rescue's ref is new.
 */
async function findReady(
  request: WorktreeRequest,
  common: string,
  options: EnsureOptions,
): Promise<WorktreeResult | null> {
  const { path, branch, known_base: knownBase } = request
  if (knownBase === undefined || !(await isLockExcluded(common)) || !(await isWhole(path, common, options))) return null
  const head = await peekHead(path)
  if (head?.branch !== branch) return null
  await recordTip(path, head.commit, taskOf(request), options)
  return { kind: 'ready', how: 'reused', base_commit: knownBase }
}

async function reuse(request: WorktreeRequest, options: EnsureOptions): Promise<WorktreeResult> {
  const { path, branch, base_branch: baseBranch, known_base: knownBase } = request
  const { signal } = options
  const peeked = await peekHead(path)
  const isOnBranch = peeked?.branch === branch
  if (isOnBranch) await recordTip(path, peeked.commit, taskOf(request), options)
  if (isOnBranch && knownBase !== undefined) return { kind: 'ready', how: 'reused', base_commit: knownBase }
  // An agent that was interrupted within a rebase of its branch goes on with it; git would not switch anyway.
  if (!isOnBranch && (await currentBranch(path, { signal })) !== branch && !(await isBeingRebased(path, branch))) {
    await returnToBranch(request, options)
  }
  const head = await resolveCommit(path, 'HEAD', { signal })
  const base = await resolveBase(path, baseBranch, { signal })
  if (head === null) throw baseBranchMissing(request)
  if (!isOnBranch) await recordTip(path, head, taskOf(request), options)
  const fork = base === null ? null : await mergeBase(path, base, head, { signal })
  return { kind: 'ready', how: 'reused', base_commit: fork ?? head }
}

/** The worktree is on another branch than the task's. Goes back where that loses nothing, else says what to do. */
async function returnToBranch(request: WorktreeRequest, options: EnsureOptions): Promise<void> {
  const { path, branch } = request
  const { signal } = options
  const head = await resolveCommit(path, 'HEAD', { signal })
  const exists = (await resolveCommit(path, branchRef(branch), { signal })) !== null
  if (!exists) {
    // The agent renamed or deleted the branch: its work is where HEAD is.
    await runGit(path, [...noHooks, 'switch', '--quiet', '--no-track', '-c', branch], { signal, access: 'write' })
    return
  }
  if (await isDirty(path, { signal })) {
    const now = (await currentBranch(path, { signal })) ?? `commit ${head ?? ''}`
    throw new WorkspaceError(
      'git_failed',
      `The worktree ${path} is on ${now} with uncommitted changes instead of on ${branch}. ` +
        `Commit or discard them there and run "git switch ${branch}", then try again.`,
    )
  }
  if (head !== null) await rescueIfUnreachable(path, head, taskOf(request), { ...options, reason: 'left' })
  await runGit(path, [...noHooks, 'switch', '--quiet', '--no-guess', branch], { signal, access: 'write' })
}

async function setUp(
  request: WorktreeRequest,
  common: string,
  { signal, onHookFailed }: EnsureOptions,
  mayHaveHook: boolean,
): Promise<void> {
  const { repo_path: repo, path, env, processMarker } = request
  const record = await readGitLink(path)
  const doneFile = join(record ?? path, setupDone)
  if ((await orNull(stat(doneFile))) !== null) return
  if (mayHaveHook) {
    const head = (await peekHead(path))?.commit ?? (await resolveCommit(path, 'HEAD', { signal })) ?? ''
    const { exit_code } = await runCheckoutHook(path, head, { signal })
    if (exit_code !== 0) onHookFailed?.({ path, exit_code })
  }
  // A bare repository has no files beside those that are git's own.
  if ((await realpath(repo)) !== (await realpath(common))) await copyFiles(repo, path, request.copy_files)
  await runSetup(path, request.setup_commands, {
    signal,
    env,
    ...(processMarker !== undefined && { processMarker }),
  })
  await writeFile(doneFile, '')
}
