import { lstat, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { WorkspaceError } from '../engine/workspace-port.ts'
import type { Cancellable } from '../engine/ports.ts'
import type { WorktreeRequest, WorktreeResult } from '../engine/workspace-port.ts'
import type { KeyedLock } from '../base/keyed-lock.ts'
import { excludeLock } from './exclude-lock.ts'
import { copyFiles } from './copy-files.ts'
import { orNull } from './file-errors.ts'
import { branchRef, branchTips, currentBranch, mergeBase, resolveBase, resolveCommit } from './git/branch.ts'
import { peekCommonDir, peekHead } from './git/peek.ts'
import { runGit } from './git/run-git.ts'
import { isDirty } from './git/status.ts'
import { isBeingRebased } from './git/unfinished.ts'
import { addWorktree, commonDir, findRecord, forgetWorktree, readGitLink, repairWorktree } from './git/worktree.ts'
import { keepLooseEnds } from './loose-ends.ts'
import { ownRecord } from './own-worktree.ts'
import { placeOf, realpathOfExisting } from './path-guard.ts'
import { takeBack } from './remove-kept.ts'
import { rescueStaged } from './rescue-staged.ts'
import { keepUnlessReachable } from './rescue.ts'
import { noteTip } from './rewritten.ts'
import { folderState, setAside } from './set-aside.ts'
import { runSetup } from './set-up-worktree.ts'

export interface EnsureOptions extends Cancellable {
  readonly now: () => number
  readonly repositories: KeyedLock
  /** A folder that was no worktree stood in the way and was renamed. */
  readonly onSetAside: (move: { readonly from: string; readonly to: string }) => void
}

/** In the worktree's own git folder: its setup ran to the end. Without it, a crash came first, and setup runs again. */
const setupDone = 'svc-ready'

/** Makes the worktree be there, on its branch, set up. Never removes a file: what is no worktree is renamed. */
export async function ensureWorktree(given: WorktreeRequest, options: EnsureOptions): Promise<WorktreeResult> {
  const { signal, repositories } = options
  const request = { ...given, path: await placeOf(given.path) }
  const common = (await peekCommonDir(request.repo_path)) ?? (await commonDir(request.repo_path, { signal }))
  const result = await repositories.run(common, async () => {
    await excludeLock(common)
    await takeBack(request.path)
    if (await isHealthy(request, common, { signal })) return await reuse(request, options)
    return await create(request, common, options)
  })
  if (result.kind === 'ready') await setUp(request, { signal })
  return result
}

async function create(request: WorktreeRequest, common: string, options: EnsureOptions): Promise<WorktreeResult> {
  const { repo_path: repo, path, branch } = request
  const { signal } = options
  const tips = await branchTips(repo, [branch, request.base_branch], { signal })
  const tip = tips.get(branch)
  const record = await findRecord(common, path)
  if (record !== null) {
    const keep = { ...options, reason: 'lost' } as const
    await rescueStaged(repo, record, taskOf(request), keep)
    await keepLooseEnds(repo, record, taskOf(request), keep)
  }
  if (tip === undefined && request.expect === 'existing') return { kind: 'branch_gone' }
  const base = tips.get(request.base_branch) ?? (await resolveBase(repo, request.base_branch, { signal }))
  if (base === null && tip === undefined) throw baseGone(request)

  const aside = await setAside(path)
  if (aside !== null) options.onSetAside({ from: path, to: aside })
  if (record !== null) await forgetWorktree(record)
  await mkdir(dirname(path), { recursive: true })
  await addWorktree(repo, path, { branch, start: tip === undefined ? base : null }, { signal })
  await noteTip(path, tip ?? base ?? '', taskOf(request), options)
  if (tip === undefined) return { kind: 'ready', how: 'created', base_commit: base ?? '' }
  const fork = base === null ? null : await mergeBase(repo, base, tip, { signal })
  return { kind: 'ready', how: 'recovered', base_commit: fork ?? tip }
}

/** A worktree that git made to the end and that belongs to this repository. Mostly, only files are read. */
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

async function isWhole(path: string, common: string, { signal }: Cancellable): Promise<boolean> {
  const record = await ownRecord(path, { signal })
  if (record === null || (await orNull(stat(join(record, 'HEAD')))) === null) return false
  if ((await realpathOfExisting(dirname(dirname(record)))) !== (await realpathOfExisting(common))) return false
  if ((await orNull(stat(join(record, 'index')))) === null) return false
  // git locks a worktree with this word while it makes it; a crash in between leaves it so.
  const locked = await orNull(readFile(join(record, 'locked'), 'utf8'))
  return locked === null || !locked.startsWith('initializing')
}

async function reuse(request: WorktreeRequest, options: EnsureOptions): Promise<WorktreeResult> {
  const { path, branch, base_branch: baseBranch, known_base: knownBase } = request
  const { signal } = options
  const peeked = await peekHead(path)
  const isOnBranch = peeked?.branch === branch
  if (isOnBranch) await noteTip(path, peeked.commit, taskOf(request), options)
  if (isOnBranch && knownBase !== undefined) return { kind: 'ready', how: 'reused', base_commit: knownBase }
  // An agent that was interrupted within a rebase of its branch goes on with it; git would not switch anyway.
  if (!isOnBranch && (await currentBranch(path, { signal })) !== branch && !(await isBeingRebased(path, branch))) {
    await returnToBranch(request, options)
  }
  const head = await resolveCommit(path, 'HEAD', { signal })
  const base = await resolveBase(path, baseBranch, { signal })
  if (head === null) throw baseGone(request)
  if (!isOnBranch) await noteTip(path, head, taskOf(request), options)
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
    await runGit(path, ['switch', '--quiet', '--no-track', '-c', branch], { signal, access: 'write' })
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
  if (head !== null) await keepUnlessReachable(path, head, taskOf(request), { ...options, reason: 'left' })
  await runGit(path, ['switch', '--quiet', '--no-guess', branch], { signal, access: 'write' })
}

async function setUp(request: WorktreeRequest, { signal }: Cancellable): Promise<void> {
  const record = await readGitLink(request.path)
  const doneFile = join(record ?? request.path, setupDone)
  if ((await orNull(stat(doneFile))) !== null) return
  await copyFiles(request.repo_path, request.path, request.copy_files)
  const { env, mark } = request
  await runSetup(request.path, request.setup_commands, {
    signal,
    env,
    ...(mark !== undefined && { mark }),
  })
  await writeFile(doneFile, '')
}

const taskOf = (request: WorktreeRequest): string => request.task_id ?? basename(request.path)

function baseGone(request: WorktreeRequest): WorkspaceError {
  return new WorkspaceError(
    'git_failed',
    `The base branch "${request.base_branch}" is not in ${request.repo_path}. Choose another base branch or create it.`,
  )
}
