import type { Cancellable } from '../engine/ports/cancellable.ts'
import { withSnapshot } from './git/snapshot.ts'
import { changedPaths, pathText } from './git/tree-paths.ts'

/** Git's tree of all that is in a worktree and not ignored, committed or not. */
export async function readWholeTree(worktree: string, { signal }: Cancellable): Promise<string> {
  return await withSnapshot(worktree, { signal }, ({ tree }) => Promise.resolve(tree))
}

/** The paths that differ between a tree of the worktree and what is there now. */
export async function changedSince(worktree: string, before: string, { signal }: Cancellable): Promise<string[]> {
  return await withSnapshot(worktree, { signal }, async ({ tree }) => {
    if (tree === before) return []
    return (await changedPaths(worktree, before, tree, { signal })).map(({ key }) => pathText(key))
  })
}
