import type { WorkPlace } from '../../../src-shared/contract/tasks.ts'
import type { BranchRef } from '../../ports/branch-ref.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import type { HeadFound } from '../../ports/work-elsewhere.ts'
import { branchRef, isAncestor, moveRef, resolveCommit, symbolicTarget } from '../commands/branch.ts'
import { ownRecord } from '../commands/own-worktree.ts'
import { peekHead } from '../commands/peek.ts'
import { readGit, runGit } from '../commands/run-git.ts'
import { isDirty } from '../commands/status.ts'
import { isBeingRebased } from '../commands/unfinished.ts'

type Worktree = BranchRef & { readonly path: string }
const onBranch: HeadFound = { taken: null, place: null }

/** See `Workspaces.isOnBranch`. */
export async function isOnBranch(path: string, branch: string, { signal }: Cancellable): Promise<boolean> {
  return (await ownRecord(path, { signal })) !== null && (await peekHead(path))?.branch === branch
}

/** See `WorkElsewhere.settleHead`. */
export async function settleHead(ref: Worktree, { signal }: Cancellable): Promise<HeadFound> {
  const { path, branch } = ref
  if ((await ownRecord(path, { signal })) === null) return elsewhere({ kind: 'link', ref: null, commits: 0, files: 0 })
  if ((await peekHead(path))?.branch === branch) return onBranch
  const own = branchRef(branch)
  const current = await symbolicTarget(path, 'HEAD', { signal })
  const target = await symbolicTarget(path, own, { signal })
  if (target !== null) return elsewhere(await describe(ref, 'branch', target, { signal }))
  if (current === own) return onBranch
  const head = await resolveCommit(path, 'HEAD', { signal })
  const tip = await resolveCommit(path, own, { signal })
  if (await isBeingRebased(path, branch)) return elsewhere(await describe(ref, 'detached', head, { signal }))
  if (head === null) {
    // An orphan branch without a commit: all its work is in the files.
    if (tip !== null) await attach(path, own, { signal })
    return onBranch
  }
  if (tip === null || (await isAncestor(path, tip, head, { signal })))
    return await take(ref, { current, head, tip }, { signal })
  const isOld = await isAncestor(path, head, tip, { signal })
  if (isOld && !(await isDirty(path, { signal }))) {
    await runGit(path, ['read-tree', '-m', '-u', head, tip], { signal, access: 'write' })
    await attach(path, own, { signal })
    return onBranch
  }
  return elsewhere(await describe(ref, current === null ? 'detached' : 'branch', current ?? head, { signal }))
}

const elsewhere = (place: WorkPlace): HeadFound => ({ taken: null, place })

/** Moves the task's branch to HEAD and checks it out there; the other branch stays. */
async function take(
  ref: Worktree,
  { current, head, tip }: { readonly current: string | null; readonly head: string; readonly tip: string | null },
  { signal }: Cancellable,
): Promise<HeadFound> {
  const own = branchRef(ref.branch)
  const start = tip ?? ref.base_commit
  const commits = start === null ? 0 : await countCommits(ref.path, start, head, { signal })
  if (head !== tip) {
    const move = { to: head, from: tip, reason: `copse: take the work of ${current ?? 'a detached HEAD'}` }
    const isMoved = await moveRef(ref.path, own, move, { signal, reflog: true })
    if (!isMoved)
      return elsewhere(await describe(ref, current === null ? 'detached' : 'branch', current ?? head, { signal }))
  }
  await attach(ref.path, own, { signal })
  return { taken: commits === 0 ? null : { kind: 'work_taken', from: current ?? head, commits }, place: null }
}

/** Puts HEAD onto a branch without touching a file. */
export async function attach(path: string, ref: string, { signal }: Cancellable): Promise<void> {
  const args = ['symbolic-ref', '-m', 'copse: back on the branch of the task', 'HEAD', ref]
  await runGit(path, args, { signal, access: 'write' })
}

async function describe(
  ref: Worktree,
  kind: 'branch' | 'detached',
  name: string | null,
  { signal }: Cancellable,
): Promise<WorkPlace> {
  return { kind, ref: name, ...(await countAt(ref, name, { signal })) }
}

/** Counts the commits at a ref or commit that the task's branch lacks, and the files that differ from the branch. */
export async function countAt(
  ref: Worktree,
  name: string | null,
  { signal }: Cancellable,
): Promise<Pick<WorkPlace, 'commits' | 'files'>> {
  const { path, branch, base_commit } = ref
  const head = name === null ? null : await resolveCommit(path, name, { signal })
  const tip = (await resolveCommit(path, branchRef(branch), { signal })) ?? base_commit
  if (head === null || tip === null) return { commits: 0, files: 0 }
  const from = head === tip && base_commit !== null ? base_commit : tip
  const changed = await readGit(path, ['diff-tree', '-r', '--name-only', from, head], { signal })
  const files = changed === '' ? 0 : changed.split('\n').length
  return { commits: await countCommits(path, from, head, { signal }), files }
}

async function countCommits(path: string, from: string, to: string, { signal }: Cancellable): Promise<number> {
  return Number(await readGit(path, ['rev-list', '--count', to, `^${from}`], { signal }))
}
