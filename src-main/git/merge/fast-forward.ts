import type { Cancellable } from '../../ports/cancellable.ts'
import type { MovedTarget } from '../../ports/target-mover.ts'
import { isAncestor } from '../commands/branch.ts'
import { actualBranch, tipOf } from '../commands/refs.ts'
import { changedPaths } from '../commands/tree-paths.ts'
import { moveWithCheckouts } from './merge-into-target.ts'
import { finishPendingMove } from './pending-move.ts'
import { checkoutsToUpdate, readCheckouts } from './target-checkout.ts'

interface FastForward {
  readonly repo_path: string
  readonly base_branch: string
  readonly to: string
}

/** Moves a base branch forward to a commit, and the checkouts that have it. Nothing moves that isn't a fast-forward. */
export async function fastForward(
  { repo_path: repo, base_branch: named, to }: FastForward,
  { signal }: Cancellable,
): Promise<MovedTarget> {
  const base_branch = await actualBranch(repo, named, { signal })
  await finishPendingMove(repo, { signal })
  const from = await tipOf(repo, base_branch, { signal })
  if (from === null) return { kind: 'not_moved', why: `There is no branch ${base_branch} here.` }
  if (from === to || (await isAncestor(repo, to, from, { signal }))) return { kind: 'moved' }
  if (!(await isAncestor(repo, from, to, { signal }))) {
    return { kind: 'not_moved', why: `${base_branch} has commits of its own here. Pull it by hand.` }
  }
  const checkouts = await checkoutsToUpdate(repo, base_branch, { signal })
  const [looked, changes] = await Promise.all([
    readCheckouts(checkouts, { signal }),
    changedPaths(repo, from, to, { signal }),
  ])
  signal.throwIfAborted()
  const reason = 'copse: follow the merge of a pull request'
  return await moveWithCheckouts({ repo_path: repo, base_branch }, { from, to, changes, looked, reason })
}
