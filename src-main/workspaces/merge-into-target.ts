import { WorkspaceError } from '../engine/ports.ts'
import type { BranchRef, Cancellable, MergeRequest, MergeResult } from '../engine/ports.ts'
import { branchRef, currentBranch, isAncestor, moveRef, resolveCommit } from './git/branch.ts'
import { commitTree } from './git/commit.ts'
import { mergeTrees, replay, treeOf } from './git/merge.ts'
import type { MergedTree } from './git/merge.ts'
import { readGitLink } from './git/worktree.ts'
import { finishPendingMove, notePendingMove } from './pending-move.ts'
import { checkoutsOf, follow, pathsInTheWay, refuseBusyCheckout } from './target-checkout.ts'

interface Sides {
  readonly target: string
  readonly head: string
}

type Plan =
  | { readonly kind: 'nothing_to_do' }
  | { readonly kind: 'conflict'; readonly files: readonly string[] }
  | { readonly kind: 'move'; readonly commit: string; readonly tree: string }

const attempts = 5

/**
 * Merges a branch into its target. All is computed in the object store; then the target moves by compare-and-swap
 * and a checkout that has it follows.
 *
 * The order is: check the checkout, note the move, move the branch, let the files follow. Files first would let a
 * commit that the user makes in between swallow the merge's content. Branch first means that a failure leaves the
 * user's files untouched and merely behind: it is undone at once (the branch moves back), and after a crash the
 * note makes the next merge or check finish it. At no point is a file of the user overwritten that git has not.
 */
export async function mergeIntoTarget(request: MergeRequest, { signal }: Cancellable): Promise<MergeResult> {
  const { repo_path: repo } = request
  await refuseOtherBranch(request, { signal })
  await finishPendingMove(repo, { signal })
  for (let attempt = 1; ; attempt += 1) {
    const sides = await readSides(request, { signal })
    const plan = await planMerge(request, sides, { signal })
    if (plan.kind === 'nothing_to_do') return { kind: 'merged', commit: sides.target }
    if (plan.kind === 'conflict') return plan
    const checkouts = await checkoutsOf(repo, request.base_branch, { signal })
    const dirty = await dirtyPaths(checkouts, sides.target, plan.commit, { signal })
    if (dirty.length > 0) return { kind: 'target_dirty', files: dirty }
    signal.throwIfAborted()
    const moved = await moveTarget(request, checkouts, { from: sides.target, to: plan.commit })
    if (moved.kind === 'merged') await verify(request, plan, { signal: AbortSignal.timeout(60_000) })
    if (moved.kind !== 'target_moved') return moved
    if (attempt === attempts) {
      throw new WorkspaceError('git_failed', `${request.base_branch} could not be moved; something keeps changing it.`)
    }
  }
}

/** The paths that would keep the user's checkout from following a merge now. */
export async function checkMergeTarget(ref: BranchRef, { signal }: Cancellable): Promise<readonly string[]> {
  const { repo_path: repo } = ref
  await finishPendingMove(repo, { signal })
  const checkouts = await checkoutsOf(repo, ref.base_branch, { signal })
  if (checkouts.length === 0) return []
  const { target, head } = await readSides(ref, { signal })
  if (await isAncestor(repo, head, target, { signal })) return []
  const merged = await mergeTrees(repo, target, head, { signal })
  return merged.kind === 'conflict' ? [] : await dirtyPaths(checkouts, target, merged.tree, { signal })
}

async function readSides(ref: BranchRef, { signal }: Cancellable): Promise<Sides> {
  const target = await resolveCommit(ref.repo_path, branchRef(ref.base_branch), { signal })
  const head = await resolveCommit(ref.repo_path, branchRef(ref.branch), { signal })
  const gone = target === null ? ref.base_branch : head === null ? ref.branch : null
  if (target !== null && head !== null) return { target, head }
  throw new WorkspaceError(
    'git_failed',
    `There is no branch "${gone ?? ''}" in ${ref.repo_path}. Create it, then try again.`,
  )
}

/** Commits that an agent made on another branch would silently stay behind. */
async function refuseOtherBranch(request: MergeRequest, { signal }: Cancellable): Promise<void> {
  const { path, branch } = request
  if (path === null || (await readGitLink(path)) === null) return
  const current = await currentBranch(path, { signal })
  if (current === branch) return
  const where = current === null ? 'on no branch' : `on ${current}`
  throw new WorkspaceError(
    'git_failed',
    `The worktree ${path} is ${where} instead of ${branch}. Bring its work onto ${branch}, then try again.`,
  )
}

async function planMerge(request: MergeRequest, { target, head }: Sides, { signal }: Cancellable): Promise<Plan> {
  const { repo_path: repo, message, strategy } = request
  if (await isAncestor(repo, head, target, { signal })) return { kind: 'nothing_to_do' }
  const merged = await mergeTrees(repo, target, head, { signal })
  if (merged.kind === 'clean' && merged.tree === (await treeOf(repo, target, { signal })))
    return { kind: 'nothing_to_do' }
  if (strategy === 'rebase') return await planRebase(request, { target, head }, merged, { signal })
  if (merged.kind === 'conflict') return merged
  const parents = strategy === 'squash' ? [target] : [target, head]
  const commit = await commitTree(repo, { tree: merged.tree, parents, message }, { signal })
  return { kind: 'move', commit, tree: merged.tree }
}

async function planRebase(
  request: MergeRequest,
  { target, head }: Sides,
  merged: MergedTree,
  { signal }: Cancellable,
): Promise<Plan> {
  const { repo_path: repo, message } = request
  if (await isAncestor(repo, target, head, { signal })) {
    return { kind: 'move', commit: head, tree: await treeOf(repo, head, { signal }) }
  }
  const replayed = await replay(repo, target, head, { signal })
  if (replayed.kind === 'clean' && replayed.commit === target) return { kind: 'nothing_to_do' }
  const asMerged = replayed.kind === 'clean' && merged.kind === 'clean' && replayed.tree === merged.tree
  if (replayed.kind === 'clean' && (asMerged || !replayed.has_merges)) {
    return { kind: 'move', commit: replayed.commit, tree: replayed.tree }
  }
  if (merged.kind === 'conflict') return merged
  if (replayed.kind === 'conflict' && !replayed.has_merges) return { kind: 'conflict', files: replayed.files }
  // The branch has merges, whose resolutions a replay leaves out. One commit keeps the history straight and has them.
  const commit = await commitTree(repo, { tree: merged.tree, parents: [target], message }, { signal })
  return { kind: 'move', commit, tree: merged.tree }
}

async function dirtyPaths(
  checkouts: readonly string[],
  from: string,
  to: string,
  { signal }: Cancellable,
): Promise<readonly string[]> {
  const dirty = new Set<string>()
  for (const checkout of checkouts) {
    for (const path of await pathsInTheWay(checkout, from, to, { signal })) dirty.add(path)
  }
  return [...dirty].sort()
}

type Moved = Extract<MergeResult, { kind: 'merged' | 'target_dirty' }> | { readonly kind: 'target_moved' }

/** From here on nothing is interrupted: a cancelled merge is either not begun or complete. */
async function moveTarget(
  request: MergeRequest,
  checkouts: readonly string[],
  { from, to }: { readonly from: string; readonly to: string },
): Promise<Moved> {
  const { repo_path: repo, base_branch: target } = request
  const { signal } = new AbortController()
  for (const checkout of checkouts) {
    await refuseBusyCheckout(checkout, { signal })
    if (!(await follow(checkout, from, to, { signal, dryRun: true }))) {
      return { kind: 'target_dirty', files: await unfollowable(checkouts, from, to, { signal }) }
    }
  }
  const pending = await notePendingMove(repo, { branch: target, from, to, checkouts }, { signal })
  const reason = `copse: merge ${request.branch}`
  const where = checkouts[0] ?? repo
  if (!(await moveRef(where, branchRef(target), { to, from, reason }, { signal }))) {
    await pending.forget()
    return { kind: 'target_moved' }
  }
  const followed: string[] = []
  for (const checkout of checkouts) {
    if (await follow(checkout, from, to, { signal })) {
      followed.push(checkout)
      continue
    }
    // A file changed since the check. git touched nothing in this checkout; take the move back as well.
    const back = { to: from, from: to, reason: `copse: take back the merge of ${request.branch}` }
    if (await moveRef(where, branchRef(target), back, { signal })) {
      for (const done of followed) await follow(done, to, from, { signal })
      await pending.forget()
      return { kind: 'target_dirty', files: await unfollowable(checkouts, from, to, { signal }) }
    }
  }
  await pending.forget()
  return { kind: 'merged', commit: to }
}

/** git refused to let the files follow: the paths that are found in the way, or else all that the merge changes. */
async function unfollowable(
  checkouts: readonly string[],
  from: string,
  to: string,
  { signal }: Cancellable,
): Promise<readonly string[]> {
  const found = await dirtyPaths(checkouts, from, to, { signal })
  if (found.length > 0) return found
  const [checkout] = checkouts
  if (checkout !== undefined) await refuseBusyCheckout(checkout, { signal })
  throw new WorkspaceError(
    'git_failed',
    `git could not update the files of ${checkouts.join(', ')}. Run "git status" there, then try again.`,
  )
}

/** A merge that is answered as done is one that can be seen to be in the target. */
async function verify(
  request: MergeRequest,
  plan: { readonly commit: string; readonly tree: string },
  { signal }: Cancellable,
): Promise<void> {
  const { repo_path: repo, base_branch: target } = request
  const contained = await isAncestor(repo, plan.commit, branchRef(target), { signal })
  if (contained && (await treeOf(repo, plan.commit, { signal })) === plan.tree) return
  throw new WorkspaceError('git_failed', `${target} does not contain the merge ${plan.commit}. Look at its reflog.`)
}
