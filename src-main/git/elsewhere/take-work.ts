import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { WorkPlace } from '../../../src-shared/contract/tasks.ts'
import { WorkspaceError } from '../../ports/workspace-error.ts'
import type { BranchRef } from '../../ports/branch-ref.ts'
import type { TakenWork } from '../../ports/work-elsewhere.ts'
import { branchRef, isAncestor, mergeBase, moveRef, resolveCommit, symbolicTarget } from '../commands/branch.ts'
import { commitTree } from '../commands/commit.ts'
import { countChanged } from '../commands/count-files.ts'
import { mergeTrees, mergeWithBase, treeOf, type MergedTree } from '../commands/merge.ts'
import { requireOwn } from '../commands/own-worktree.ts'
import { deleteRef } from '../commands/refs.ts'
import { readGit, runGit } from '../commands/run-git.ts'
import { readTree } from '../commands/snapshot.ts'
import { isBeingRebased } from '../commands/unfinished.ts'
import { commonDir } from '../commands/worktree.ts'
import { rescueCommit, type RescueOptions } from '../rescue/rescue.ts'
import { leftPrefix } from '../view/left-refs.ts'
import { mendLink } from '../worktree/mend-link.ts'
import { attach } from './settle-head.ts'
import { dropEntry } from './stash-list.ts'

type Worktree = BranchRef & { readonly path: string }
type Options = Omit<RescueOptions, 'reason'>

/** See `WorkElsewhere.takeWork`. */
export async function takeWork(
  ref: Worktree,
  task: string,
  place: WorkPlace,
  message: string,
  options: Options,
): Promise<TakenWork> {
  if (place.kind === 'link') await mendLink(ref, task, options)
  else if (place.kind === 'stash') return await takeStash(ref, task, place, options)
  else if (await mendSymbolic(ref, place, 'take', task, options)) return { kind: 'taken' }
  else return await takeCommits(ref, task, place, message, options)
  return { kind: 'taken' }
}

/** See `WorkElsewhere.leaveWork`. */
export async function leaveWork(ref: Worktree, task: string, place: WorkPlace, options: Options): Promise<void> {
  const { signal } = options
  if (place.kind === 'link') return await mendLink(ref, task, options)
  if (place.kind === 'stash') {
    if (place.ref !== null) await keepCommit(ref, task, place.ref, options)
    return await dropStash(ref, place, options)
  }
  if (await mendSymbolic(ref, place, 'leave', task, options)) return
  const head = await headOf(ref, options)
  if (head === null) {
    const commit = place.ref === null ? null : await resolveCommit(ref.path, place.ref, { signal })
    if (commit !== null) await keepCommit(ref, task, commit, options)
    return await forgetLeft(ref, place, options)
  }
  const work = await commitWorktree(ref, head, 'The work that was left out', options)
  await keepCommit(ref, task, work, options)
  await endRebase(ref, options)
  const tip = (await resolveCommit(ref.path, branchRef(ref.branch), { signal })) ?? ref.base_commit ?? head
  await switchTo(ref, work, tip, options)
}

/** See `WorkElsewhere.replaceWork`. */
export async function replaceWork(ref: Worktree, task: string, commit: string, options: Options): Promise<void> {
  const { path, branch } = ref
  const { signal } = options
  await requireOwn(path, { signal })
  if (await isBeingRebased(path, branch)) throw unfinishedRebase(path)
  const tip = await resolveCommit(path, branchRef(branch), { signal })
  const files = await commitWorktree(ref, (await headOf(ref, options)) ?? tip ?? commit, 'Replaced work', options)
  if (!(await isAncestor(path, files, commit, { signal }))) await keepCommit(ref, task, files, options)
  await moveTo(ref, tip, commit, options)
  await switchTo(ref, files, commit, options)
}

/** Returns the commit of HEAD if HEAD is not on the task's branch; null if it is. */
async function headOf({ path, branch }: Worktree, { signal }: Options): Promise<string | null> {
  const current = await symbolicTarget(path, 'HEAD', { signal })
  return current === branchRef(branch) ? null : await resolveCommit(path, 'HEAD', { signal })
}

/** Merges the commits of a place, and what is uncommitted on top of a HEAD that is there, into the task's branch. */
async function takeCommits(
  ref: Worktree,
  task: string,
  place: WorkPlace,
  message: string,
  options: Options,
): Promise<TakenWork> {
  const { path, branch } = ref
  const { signal } = options
  await requireOwn(path, { signal })
  if (await isBeingRebased(path, branch)) throw unfinishedRebase(path)
  const head = await headOf(ref, options)
  const own = branchRef(branch)
  const tip = await resolveCommit(path, own, { signal })
  const left = head === null && place.ref !== null ? await resolveCommit(path, place.ref, { signal }) : head
  if (left === null)
    throw new WorkspaceError('git_failed', `${place.ref ?? 'The work'} is gone. Check the stash list and the branches.`)
  const files = await commitWorktree(ref, head ?? tip ?? left, message, options)
  const source = head === null ? left : files
  await keepCommit(ref, task, source, options)
  // What is uncommitted on the task's own branch stays below the merge.
  const onto = head === null ? files : tip
  const plan = onto === null ? null : await planTaking(ref, onto, source, options)
  if (plan?.kind === 'conflict') {
    if (head !== null) await switchTo(ref, files, tip ?? source, options)
    await forgetLeft(ref, place, options)
    return { kind: 'conflict', files: plan.files, commit: source }
  }
  const commit =
    plan === null || onto === null ? source : await commitTaking(ref, plan, { onto, source, message }, options)
  await moveTo(ref, tip, commit, options)
  await switchTo(ref, files, commit, options)
  await forgetLeft(ref, place, options)
  return { kind: 'taken' }
}

async function planTaking(
  { path, base_commit }: Worktree,
  onto: string,
  source: string,
  { signal }: Options,
): Promise<MergedTree> {
  if ((await mergeBase(path, onto, source, { signal })) !== null)
    return await mergeTrees(path, onto, source, { signal })
  // An orphan branch has no commit in common, but its files came from where the task's branch began.
  const [base, ours, theirs] = await Promise.all([
    treeOf(path, base_commit ?? onto, { signal }),
    treeOf(path, onto, { signal }),
    treeOf(path, source, { signal }),
  ])
  return await mergeWithBase(path, { base, ours, theirs }, { signal })
}

async function commitTaking(
  { path }: Worktree,
  { tree }: Extract<MergedTree, { kind: 'clean' }>,
  { onto, source, message }: { readonly onto: string; readonly source: string; readonly message: string },
  { signal }: Options,
): Promise<string> {
  if (await isAncestor(path, onto, source, { signal })) return source
  return await commitTree(path, { tree, parents: [onto, source], message }, { signal })
}

async function moveTo({ path, branch }: Worktree, from: string | null, to: string, { signal }: Options): Promise<void> {
  const move = { to, from, reason: 'copse: take the work that was elsewhere' }
  if (from === to || (await moveRef(path, branchRef(branch), move, { signal, reflog: true }))) return
  throw new WorkspaceError('git_failed', `${branch} moved at the same moment. Try again.`)
}

/** Commits the files of the worktree on top of a commit without moving a ref; returns that commit if nothing differs. */
async function commitWorktree({ path }: Worktree, head: string, message: string, { signal }: Options): Promise<string> {
  const tree = await readTree(path, { signal })
  if (tree === (await treeOf(path, head, { signal }))) return head
  return await commitTree(path, { tree, parents: [head], message }, { signal })
}

/** Brings the worktree, whose files are those of `from`, to `to` on the task's branch. */
async function switchTo({ path, branch }: Worktree, from: string, to: string, { signal }: Options): Promise<void> {
  const write = { signal, access: 'write' } as const
  await runGit(path, ['read-tree', '--reset', from], write)
  await runGit(path, ['update-index', '-q', '--refresh'], { ...write, accept: [0, 1] })
  await runGit(path, ['read-tree', '-m', '-u', from, to], write)
  await attach(path, branchRef(branch), { signal })
}

/** Makes the task's branch an ordinary ref again, if the run made it stand for another; returns whether it did. */
async function mendSymbolic(
  ref: Worktree,
  place: WorkPlace,
  what: 'take' | 'leave',
  task: string,
  options: Options,
): Promise<boolean> {
  const { path, branch, base_commit } = ref
  const { signal } = options
  const own = branchRef(branch)
  const target = await symbolicTarget(path, own, { signal })
  if (target === null || target !== place.ref) return false
  const commit = await resolveCommit(path, own, { signal })
  if (commit !== null) await keepCommit(ref, task, commit, options)
  const to = what === 'take' ? commit : base_commit
  await runGit(path, ['symbolic-ref', '--delete', own], { signal, access: 'write' })
  if (to === null) return true
  await moveRef(path, own, { to, from: null, reason: 'copse: an ordinary branch again' }, { signal, reflog: true })
  if (what === 'leave' && commit !== null)
    await switchTo(ref, await commitWorktree(ref, commit, 'Left out', options), to, options)
  return true
}

async function takeStash(ref: Worktree, task: string, place: WorkPlace, options: Options): Promise<TakenWork> {
  const { path } = ref
  const { signal } = options
  if (place.ref === null) return { kind: 'taken' }
  await requireOwn(path, { signal })
  await keepCommit(ref, task, place.ref, options)
  const apply = (more: readonly string[]) =>
    runGit(path, ['stash', 'apply', ...more, place.ref ?? ''], { signal, access: 'write', accept: [0, 1, 128] })
  const staged = await apply(['--index'])
  const { exit_code, stderr } = staged.exit_code === 0 ? staged : await apply([])
  const conflicts = await readGit(path, ['diff', '--name-only', '--diff-filter=U'], { signal })
  if (exit_code !== 0 && conflicts === '') {
    throw new WorkspaceError(
      'git_failed',
      `The stash entry doesn't apply to ${path}, and is still there. git says: ${stderr.trim()}`,
    )
  }
  await dropStash(ref, place, options)
  return conflicts === '' ? { kind: 'taken' } : { kind: 'conflict', files: conflicts.split('\n'), commit: place.ref }
}

async function dropStash(ref: Worktree, place: WorkPlace, options: Options): Promise<void> {
  const { signal } = options
  if (place.ref === null) return
  await dropEntry(ref.path, await commonDir(ref.path, { signal }), place.ref, { signal })
  await deleteRef(ref.path, `${leftPrefix(ref.path)}stash/${place.ref}`, place.ref, { signal })
}

/** Removes the ref that keeps what a contained run left. A branch in the repository itself stays. */
async function forgetLeft({ path }: Worktree, { ref: name }: WorkPlace, { signal }: Options): Promise<void> {
  if (name?.startsWith(leftPrefix(path)) !== true) return
  const commit = await resolveCommit(path, name, { signal })
  if (commit !== null) await deleteRef(path, name, commit, { signal })
}

/** See `WorkElsewhere.keepCommit`. */
export async function keepCommit(
  { path, base_commit }: Worktree,
  task: string,
  commit: string,
  options: Options,
): Promise<void> {
  const from = base_commit === null ? commit : await treeOf(path, base_commit, options)
  const files = await countChanged(path, from, await treeOf(path, commit, options), options)
  await rescueCommit(path, commit, task, { ...options, reason: 'left', note: { kind: 'commits', files } })
}

/** Removes git's records of an unfinished rebase of the task's branch; the branch itself is where it was before. */
async function endRebase({ path, branch }: Worktree, { signal }: Options): Promise<void> {
  if (!(await isBeingRebased(path, branch))) return
  const record = await requireOwn(path, { signal })
  for (const name of ['rebase-merge', 'rebase-apply']) await rm(join(record, name), { recursive: true, force: true })
}

const unfinishedRebase = (path: string): WorkspaceError =>
  new WorkspaceError(
    'git_failed',
    `A rebase is unfinished in ${path}. Finish or abort it there, or leave the work out.`,
  )
