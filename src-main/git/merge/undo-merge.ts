import type { Cancellable } from '../../ports/cancellable.ts'
import type { UndoneMerge, UndoRequest } from '../../ports/target-mover.ts'
import { branchRef, isAncestor, moveRef, resolveCommit } from '../commands/branch.ts'
import { actualBranch, tipOf } from '../commands/refs.ts'
import { readGit } from '../commands/run-git.ts'
import { changedPaths } from '../commands/tree-paths.ts'
import { rescueIfUnreachable } from '../rescue/rescue.ts'
import { moveWithCheckouts } from './merge-into-target.ts'
import { finishPendingMove } from './pending-move.ts'
import { checkoutsToUpdate, readCheckouts } from './target-checkout.ts'

/**
 * Moves a base branch back to where it was before a merge. Nothing moves if the branch has moved on, a remote-tracking
 * ref has the merge, or a checkout's changes would be overwritten.
 */
export async function undoMerge(
  { repo_path: repo, base_branch: named, branch, from, to, head, task_id }: UndoRequest,
  { signal, now }: Cancellable & { readonly now: () => number },
): Promise<UndoneMerge> {
  const base_branch = await actualBranch(repo, named, { signal })
  await finishPendingMove(repo, { signal })
  if ((await tipOf(repo, base_branch, { signal })) !== to) return { kind: 'newer' }
  const ref = await publishedRef(repo, to, { signal })
  if (ref !== null) return { kind: 'pushed', ref }
  const known = await resolveCommit(repo, head, { signal })
  const checkouts = await checkoutsToUpdate(repo, base_branch, { signal })
  const [looked, changes] = await Promise.all([
    readCheckouts(checkouts, { signal }),
    changedPaths(repo, to, from, { signal }),
  ])
  signal.throwIfAborted()
  if ((await tipOf(repo, branch, { signal })) === null) {
    if (known === null) return { kind: 'work_gone' }
    await moveRef(repo, branchRef(branch), { to: head, from: null, reason: 'copse: undo a merge' }, { signal })
  }
  // A branch that was rewritten since no longer leads to what was merged.
  const kept = { signal, now, reason: 'rewritten', except: branchRef(base_branch) } as const
  if (known !== null) await rescueIfUnreachable(repo, head, task_id, kept)
  const reason = `copse: undo the merge of ${branch}`
  return await moveWithCheckouts({ repo_path: repo, base_branch }, { from: to, to: from, changes, looked, reason })
}

/** Returns whether a branch has a commit; false if one of them is gone. */
export async function hasCommit(
  repo: string,
  branch: string,
  commit: string,
  { signal }: Cancellable,
): Promise<boolean> {
  const tip = await tipOf(repo, await actualBranch(repo, branch, { signal }), { signal })
  return tip !== null && (tip === commit || (await isAncestor(repo, commit, tip, { signal })))
}

async function publishedRef(repo: string, commit: string, { signal }: Cancellable): Promise<string | null> {
  const args = ['for-each-ref', '--count=1', `--contains=${commit}`, '--format=%(refname:short)', 'refs/remotes/']
  return (await readGit(repo, args, { signal })).trim() || null
}
