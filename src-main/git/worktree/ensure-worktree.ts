import { realpath, stat, appendFile, mkdir, readFile, lstat } from 'node:fs/promises'
import { join, dirname } from 'node:path'
import { WorkspaceError } from '../../ports/workspace-error.ts'
import type { WorktreeRequest, WorktreeResult } from '../../ports/worktree-store.ts'
import { copyFiles } from '../files/copy-files.ts'
import {
  baseBranchMissing,
  prepareWorktree,
  taskOf,
  type EnsureOptions,
  type PreparedWorktree,
} from './create-worktree.ts'
import { orNull } from '../files/file-errors.ts'
import { branchRef, currentBranch, mergeBase, resolveBase, resolveCommit } from '../commands/branch.ts'
import { noteCopied } from '../commands/copied-files.ts'
import { runCheckoutHook } from '../commands/checkout.ts'
import { peekCommonDir, peekHead } from '../commands/peek.ts'
import { runGit } from '../commands/run-git.ts'
import { tipOf } from '../commands/refs.ts'
import { isDirty } from '../commands/status.ts'
import { isBeingRebased } from '../commands/unfinished.ts'
import { readGitLink } from '../commands/git-link.ts'
import { commonDir, findRecord, repairWorktree } from '../commands/worktree.ts'
import { resolveParent, realpathOfExisting } from '../files/path-guard.ts'
import { undoRemoval } from '../rescue/remove-rescued.ts'
import { rescueIfUnreachable } from '../rescue/rescue.ts'
import { recordTip } from '../rescue/branch-tip.ts'
import { runSetup } from './set-up-worktree.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { keepFilesHere, linkedRecord, ownRecord } from '../commands/own-worktree.ts'
import { mendLink } from './mend-link.ts'
import { folderState } from '../files/quarantine.ts'
import { readPlain, writePlain } from '../files/plain-file.ts'

const line = '/.svc.lock'

/** Returns whether git ignores the lock file already. */
async function isLockExcluded(common: string): Promise<boolean> {
  const text = await orNull(readFile(join(common, 'info', 'exclude'), 'utf8'))
  return text?.split(/\r?\n/).includes(line) ?? false
}

/** Makes git ignore the lock file in every worktree of the repository, without changing a committed file. */
async function excludeLock(common: string): Promise<void> {
  const path = join(common, 'info', 'exclude')
  const text = (await orNull(readFile(path, 'utf8'))) ?? ''
  if (text.split(/\r?\n/).includes(line)) return
  await mkdir(join(common, 'info'), { recursive: true })
  await appendFile(path, `${text === '' || text.endsWith('\n') ? '' : '\n'}${line}\n`)
}

// A failing hook would look like a failed switch.
const noHooks = ['-c', 'core.hooksPath=/dev/null']

/**
 * File in the worktree's own git folder after its setup has completed. Without it, setup was interrupted and runs
 * again.
 */
const setupDone = 'svc-ready'

/**
 * Ensures that the worktree exists, is on its branch and is set up. Never removes a file: a folder that is no
 * worktree is renamed.
 */
export async function ensureWorktree(given: WorktreeRequest, options: EnsureOptions): Promise<WorktreeResult> {
  const { signal } = options
  const request = { ...given, path: await resolveParent(given.path) }
  const common = (await peekCommonDir(request.repo_path)) ?? (await commonDir(request.repo_path, { signal }))
  const found = (await findReady(request, common, options)) ?? (await findOrBegin(request, common, options))
  const result = found.kind === 'begun' ? await found.finish() : found
  if (result.kind === 'ready') await setUp(request, common, options, found.kind !== 'begun' || found.mayHaveHook)
  return result
}

/** Performs the part that changes the repository's refs and worktrees, which runs one at a time. */
async function findOrBegin(
  request: WorktreeRequest,
  common: string,
  options: EnsureOptions,
): Promise<WorktreeResult | PreparedWorktree> {
  return await options.repositories.run(common, async () => {
    await excludeLock(common)
    await undoRemoval(request.path)
    if (await isHealthy(request, common, options)) return await reuse(request, options)
    if (await isUnlinked(request, options)) await mendLink(request, taskOf(request), options)
    if (await isHealthy(request, common, options)) return await reuse(request, options)
    return await prepareWorktree(request, common, options)
  })
}

/**
 * Returns a worktree that needs no repair, as later claims usually find it. Does not wait for other work in the
 * repository, because it writes only to this worktree's own folder and to new rescue refs.
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
  // An agent interrupted within a rebase of its branch continues it; git would refuse to switch anyway.
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

/** Switches a worktree from another branch back to the task's, if that loses nothing; else throws what to do. */
async function returnToBranch(request: WorktreeRequest, options: EnsureOptions): Promise<void> {
  const { path, branch } = request
  const { signal } = options
  const head = await resolveCommit(path, 'HEAD', { signal })
  const exists = (await resolveCommit(path, branchRef(branch), { signal })) !== null
  if (!exists) {
    // The agent renamed or deleted the branch, so its work is at HEAD.
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
  { signal, onHookFailed, containment }: EnsureOptions,
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
  // A bare repository has no files except git's own.
  if ((await realpath(repo)) !== (await realpath(common)))
    await noteCopied(path, await copyFiles(repo, path, request.copy_files), { signal })
  await runSetup(path, request.setup_commands, {
    signal,
    env,
    contain: containment,
    ...(request.containment && { containment: request.containment }),
    ...(processMarker !== undefined && { processMarker }),
  })
  await writePlain(doneFile, '')
}

/** Returns whether a task's files and branch are there, but the link to the repository is gone or leads elsewhere. */
async function isUnlinked(request: WorktreeRequest, { signal }: Cancellable): Promise<boolean> {
  const { repo_path: repo, path, branch, expect } = request
  if (expect === 'new' || (await folderState(path)) !== 'filled' || (await linkedRecord(path)) !== null) return false
  return (await tipOf(repo, branch, { signal })) !== null
}

/** Returns whether git created the worktree completely and it belongs to this repository; repairs it after a move. */
async function isHealthy(request: WorktreeRequest, common: string, { signal }: Cancellable): Promise<boolean> {
  const { repo_path: repo, path } = request
  if ((await orNull(lstat(path)))?.isDirectory() !== true || (await folderState(path)) !== 'filled') return false
  if (await isWhole(path, common, { signal })) return true
  await keepFilesHere(path, { signal })
  if (await isWhole(path, common, { signal })) return true
  const link = await readGitLink(path)
  // If the link leads to anything but its own record, someone replaced it, and git would repair the wrong end.
  if (link === null || (await orNull(stat(link))) !== null || (await findRecord(common, path)) === null) return false
  await repairWorktree(repo, path, { signal })
  await keepFilesHere(path, { signal })
  return await isWhole(path, common, { signal })
}

/** Does the same check without repairs; mostly reads files only. */
async function isWhole(path: string, common: string, { signal }: Cancellable): Promise<boolean> {
  const record = await ownRecord(path, { signal })
  if (record === null || (await orNull(stat(join(record, 'HEAD')))) === null) return false
  if ((await realpathOfExisting(dirname(dirname(record)))) !== (await realpathOfExisting(common))) return false
  // Git writes the index last, when all files exist.
  if ((await orNull(stat(join(record, 'index')))) === null) return false
  // Git locks a worktree with this text during its creation; a crash leaves the lock.
  const locked = await readPlain(join(record, 'locked'))
  return locked === null || !locked.startsWith('initializing')
}
