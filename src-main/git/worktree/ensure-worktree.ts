import { realpath, stat, writeFile, appendFile, mkdir, readFile, lstat } from 'node:fs/promises'
import { join, dirname } from 'node:path'
import { WorkspaceError, type WorktreeRequest, type WorktreeResult } from '../../ports/workspaces.ts'
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
import { runCheckoutHook } from '../commands/checkout.ts'
import { peekCommonDir, peekHead } from '../commands/peek.ts'
import { runGit } from '../commands/run-git.ts'
import { isDirty } from '../commands/status.ts'
import { isBeingRebased } from '../commands/unfinished.ts'
import { readGitLink } from '../commands/git-link.ts'
import { commonDir, findRecord, repairWorktree } from '../commands/worktree.ts'
import { placeOf, realpathOfExisting } from '../files/path-guard.ts'
import { undoRemoval } from '../rescue/remove-rescued.ts'
import { rescueIfUnreachable } from '../rescue/rescue.ts'
import { recordTip } from '../rescue/branch-tip.ts'
import { runSetup } from './set-up-worktree.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { ownRecord } from '../commands/own-worktree.ts'
import { folderState } from '../files/quarantine.ts'

const line = '/.svc.lock'

/** Whether git overlooks the lock file already. */
async function isLockExcluded(common: string): Promise<boolean> {
  const text = await orNull(readFile(join(common, 'info', 'exclude'), 'utf8'))
  return text?.split(/\r?\n/).includes(line) ?? false
}

/** Has git overlook the lock file in every worktree of the repository, without touching a file that is committed. */
async function excludeLock(common: string): Promise<void> {
  const path = join(common, 'info', 'exclude')
  const text = (await orNull(readFile(path, 'utf8'))) ?? ''
  if (text.split(/\r?\n/).includes(line)) return
  await mkdir(join(common, 'info'), { recursive: true })
  await appendFile(path, `${text === '' || text.endsWith('\n') ? '' : '\n'}${line}\n`)
}

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
  // A bare repository has no files beside those that are git's own.
  if ((await realpath(repo)) !== (await realpath(common))) await copyFiles(repo, path, request.copy_files)
  await runSetup(path, request.setup_commands, {
    signal,
    env,
    contain: containment,
    ...(request.containment && { containment: request.containment }),
    ...(processMarker !== undefined && { processMarker }),
  })
  await writeFile(doneFile, '')
}

/** A worktree that git made to the end and that belongs to this repository; mended where it or that was moved. */
async function isHealthy(request: WorktreeRequest, common: string, { signal }: Cancellable): Promise<boolean> {
  const { repo_path: repo, path } = request
  if ((await orNull(lstat(path)))?.isDirectory() !== true || (await folderState(path)) !== 'filled') return false
  if (await isWhole(path, common, { signal })) return true
  const link = await readGitLink(path)
  // A link that leads to something else than its own record was put there by somebody: git would mend the wrong end.
  if (link === null || (await orNull(stat(link))) !== null || (await findRecord(common, path)) === null) return false
  await repairWorktree(repo, path, { signal })
  return await isWhole(path, common, { signal })
}

/** The same as it is found, without mending anything: mostly, only files are read. */
async function isWhole(path: string, common: string, { signal }: Cancellable): Promise<boolean> {
  const record = await ownRecord(path, { signal })
  if (record === null || (await orNull(stat(join(record, 'HEAD')))) === null) return false
  if ((await realpathOfExisting(dirname(dirname(record)))) !== (await realpathOfExisting(common))) return false
  // It comes last, when all files are there.
  if ((await orNull(stat(join(record, 'index')))) === null) return false
  // git locks a worktree with this word while it makes it; a crash in between leaves it so.
  const locked = await orNull(readFile(join(record, 'locked'), 'utf8'))
  return locked === null || !locked.startsWith('initializing')
}
