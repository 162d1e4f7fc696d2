import type { Cancellable } from '../../ports/cancellable.ts'
import type { MergeRequest } from '../../ports/branch-ref.ts'
import { mergeBase } from '../commands/branch.ts'
import { mergeTrees, replay, type ConflictedTree, type MergedTree } from '../commands/merge.ts'
import { readCommits } from '../commands/refs.ts'
import type { Tip } from '../../ports/target-mover.ts'

export interface Sides {
  readonly target: Tip
  readonly head: Tip
}

export type MergePlan =
  | { readonly kind: 'nothing_to_do' }
  | ConflictedTree
  /** A commit that must be created. */
  | { readonly kind: 'commit'; readonly tree: string; readonly parents: readonly string[] }
  /** A commit that exists. */
  | { readonly kind: 'advance'; readonly tree: string; readonly commit: string }

/**
 * Computes in the object store what the target would become, from the two commits. Changes no ref and no files. Returns
 * the commits' data too.
 */
export async function planMerge(
  repo: string,
  commits: { readonly target: string; readonly head: string },
  strategy: MergeRequest['strategy'],
  { signal }: Cancellable,
): Promise<MergePlan & { readonly sides: Sides }> {
  const [[target, head], base, merged] = await Promise.all([
    readCommits(repo, [commits.target, commits.head], { signal }),
    // A branch that is merged already is reported as merged for a rebase, too.
    strategy === 'rebase' ? mergeBase(repo, commits.target, commits.head, { signal }) : null,
    mergeTrees(repo, commits.target, commits.head, { signal }),
  ])
  const sides = { target, head }
  return { ...(await planOf(repo, { ...sides, base, merged }, strategy, { signal })), sides }
}

interface Merging extends Sides {
  readonly base: string | null
  readonly merged: MergedTree
}

async function planOf(
  repo: string,
  { target, head, base, merged }: Merging,
  strategy: MergeRequest['strategy'],
  { signal }: Cancellable,
): Promise<MergePlan> {
  if (merged.kind === 'clean' && merged.tree === target.tree) return { kind: 'nothing_to_do' }
  if (strategy === 'rebase') return await planRebase(repo, { target, head, base, merged }, { signal })
  if (merged.kind === 'conflict') return merged
  const parents = strategy === 'squash' ? [target.commit] : [target.commit, head.commit]
  return { kind: 'commit', tree: merged.tree, parents }
}

async function planRebase(
  repo: string,
  { target, head, base, merged }: Merging,
  { signal }: Cancellable,
): Promise<MergePlan> {
  if (base === target.commit) return { kind: 'advance', commit: head.commit, tree: head.tree }
  const replayed = await replay(repo, target.commit, head.commit, { signal })
  // Merge commits may bring something new, and a replay leaves them out.
  const bringsNothing = replayed.kind === 'clean' && replayed.commit === target.commit && !replayed.has_merges
  if (bringsNothing) return { kind: 'nothing_to_do' }
  const asMerged = replayed.kind === 'clean' && merged.kind === 'clean' && replayed.tree === merged.tree
  if (replayed.kind === 'clean' && (asMerged || !replayed.has_merges)) {
    return { kind: 'advance', commit: replayed.commit, tree: replayed.tree }
  }
  if (merged.kind === 'conflict') return merged
  if (replayed.kind === 'conflict' && !replayed.has_merges) return replayed
  // The branch has merges, whose resolutions a replay leaves out. One commit keeps the history straight and has them.
  return { kind: 'commit', tree: merged.tree, parents: [target.commit] }
}
