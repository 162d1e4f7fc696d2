import type { Cancellable } from '../../ports/cancellable.ts'
import type { RevertedMerge, RevertRequest } from '../../ports/target-mover.ts'
import { WorkspaceError } from '../../ports/workspace-error.ts'
import { branchRef, moveRef } from '../commands/branch.ts'
import { commitTree } from '../commands/commit.ts'
import { mergeWithBase } from '../commands/merge.ts'
import { readCommits, tipOf } from '../commands/refs.ts'

/** Makes a branch on the tip of the base that takes back what a merge brought, or that a coder is to do so on. */
export async function revertMerge(
  { repo_path: repo, base_branch, branch, from, to, message }: RevertRequest,
  { signal }: Cancellable,
): Promise<RevertedMerge> {
  const base_commit = await tipOf(repo, base_branch, { signal })
  if (base_commit === null)
    throw new WorkspaceError('branch_missing', `No branch “${base_branch}” in ${repo}. Create it, then try again.`)
  const [tip, before, after] = await readCommits(repo, [base_commit, from, to], { signal })
  const merged = await mergeWithBase(repo, { base: after.tree, ours: tip.tree, theirs: before.tree }, { signal })
  if (merged.kind === 'clean' && merged.tree === tip.tree) return { kind: 'nothing_to_do' }
  const head =
    merged.kind === 'clean'
      ? await commitTree(repo, { tree: merged.tree, parents: [base_commit], message }, { signal })
      : base_commit
  const move = { to: head, from: null, reason: 'copse: revert a merge' }
  if (!(await moveRef(repo, branchRef(branch), move, { signal, reflog: true })))
    throw new WorkspaceError('git_failed', `The branch ${branch} could not be made in ${repo}.`)
  if (merged.kind === 'clean') return { kind: 'reverted', base_commit }
  const command = after.parents.length > 1 ? `git revert -m 1 ${to}` : `git revert ${from}..${to}`
  return { kind: 'conflict', base_commit, files: merged.files, command }
}
