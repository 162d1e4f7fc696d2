import { WorkspaceError } from '../../ports/workspace-error.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import type { MergeRequest } from '../../ports/branch-ref.ts'
import { isAncestor } from '../commands/branch.ts'
import { mergeTrees, replay, treeOf } from '../commands/merge.ts'
import type { Tip } from '../../ports/target-mover.ts'
import { readTips } from '../commands/refs.ts'
import type { Sides } from './plan-merge.ts'

/**
 * Checks after a merge, independently of it, whether the target contains the branch's work, before anything of the task
 * is removed. Throws when it does not. `moved_on`: the branch has further commits.
 */
export async function verifyMerge(
  request: Pick<MergeRequest, 'repo_path' | 'branch' | 'base_branch'>,
  merged: Sides & { readonly commit: string },
  { signal }: Cancellable,
): Promise<'held' | 'moved_on'> {
  const { repo_path: repo, branch, base_branch } = request
  const tips = await readTips(repo, [base_branch, branch], { signal })
  const target = tips.get(base_branch)
  if (target === undefined || !(await holds(repo, target, merged, { signal }))) {
    const was = merged.target.commit.slice(0, 12)
    throw new WorkspaceError(
      'unverified',
      `${base_branch} does not hold the work of ${branch} although the merge ${merged.commit.slice(0, 12)} was made. ` +
        `Something moved ${base_branch} (from ${was}) or changed the merge: check its reflog and the repository's ` +
        `hooks, then merge again. ${branch} has all of it still.`,
    )
  }
  const head = tips.get(branch)
  return head !== undefined && head.commit !== merged.head.commit ? 'moved_on' : 'held'
}

async function holds(
  repo: string,
  now: Tip,
  { target, head, commit }: Sides & { readonly commit: string },
  { signal }: Cancellable,
): Promise<boolean> {
  const contains = (older: string, tip: Tip) =>
    tip.commit === older || tip.parents.includes(older) || isAncestor(repo, older, tip.commit, { signal })
  if (!(await contains(commit, now))) return false
  const made = now.commit === commit ? now : null
  if (await contains(head.commit, made ?? { commit, tree: '', parents: [] })) return true
  // A squash or a rebase has other commits than the branch, but merging the branch again must change nothing.
  const tree = made?.tree ?? (await treeOf(repo, commit, { signal }))
  const again = await mergeTrees(repo, commit, head.commit, { signal })
  if (again.kind === 'clean' && again.tree === tree) return true
  // Where both sides changed adjacent lines, git may not recognise that; then the result must equal a direct merge of
  // the two.
  const direct = await mergeTrees(repo, target.commit, head.commit, { signal })
  if (direct.kind === 'clean' && direct.tree === tree) return true
  // Or commit by commit, as in a rebase: then the target contains each of them.
  const replayed = await replay(repo, commit, head.commit, { signal })
  return replayed.kind === 'clean' && replayed.commit === commit && !replayed.has_merges
}
