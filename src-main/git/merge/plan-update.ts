import type { UpdateRequest } from '../../ports/branch-updater.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { isAncestor, mergeBase } from '../commands/branch.ts'
import { commitTree } from '../commands/commit.ts'
import { mergeTrees, replay, type ConflictedTree } from '../commands/merge.ts'

export interface UpdateSides {
  readonly head: string
  readonly base: string
}

export type UpdatePlan =
  | { readonly kind: 'up_to_date' }
  | {
      readonly kind: 'conflict'
      readonly tree: ConflictedTree
      /**
       * A rebase puts the branch on the base, a merge the base on the branch, so the sides of the markers are
       * swapped.
       */
      readonly names: 'base_first' | 'branch_first'
    }
  | {
      readonly kind: 'move'
      readonly strategy: 'merge' | 'rebase'
      readonly commit: string
      /** The branch's commits are replaced by others. */
      readonly rewrites: boolean
    }

/** Computes in the object store what a branch becomes with the current commits of its base. */
export async function planUpdate(
  cwd: string,
  { strategy, message, without = null }: Pick<UpdateRequest, 'strategy' | 'message' | 'without'>,
  { head, base }: UpdateSides,
  { signal }: Cancellable,
): Promise<UpdatePlan> {
  const fork = await mergeBase(cwd, base, head, { signal })
  const isRewritten = strategy === 'rebase' && (await hasDropped(cwd, without, { head, base }, { signal }))
  if (fork === base && !isRewritten) return { kind: 'up_to_date' }
  if (fork === head && !isRewritten) return { kind: 'move', strategy, commit: base, rewrites: false }
  const merged = await mergeTrees(cwd, head, base, { signal })
  if (strategy === 'rebase') {
    const replayed = await replay(cwd, base, head, { signal, without })
    const asMerged = replayed.kind === 'clean' && merged.kind === 'clean' && replayed.tree === merged.tree
    if (replayed.kind === 'clean' && ((asMerged && !isRewritten) || !replayed.has_merges)) {
      return { kind: 'move', strategy, commit: replayed.commit, rewrites: true }
    }
    if (replayed.kind === 'conflict' && !replayed.has_merges) {
      return { kind: 'conflict', tree: replayed, names: 'base_first' }
    }
    // A replay would leave out how the branch's own merges were resolved.
  }
  if (merged.kind === 'conflict') return { kind: 'conflict', tree: merged, names: 'branch_first' }
  const commit = await commitTree(cwd, { tree: merged.tree, parents: [head, base], message }, { signal })
  return { kind: 'move', strategy: 'merge', commit, rewrites: false }
}

/** Returns whether a branch has commits, up to where it began, that its base no longer has. */
async function hasDropped(
  cwd: string,
  start: string | null,
  { head, base }: UpdateSides,
  { signal }: Cancellable,
): Promise<boolean> {
  if (start === null || (await isAncestor(cwd, start, base, { signal }))) return false
  return await isAncestor(cwd, start, head, { signal })
}
