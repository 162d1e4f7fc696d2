import type { Cancellable } from '../engine/ports/cancellable.ts'
import { readTree } from './git/snapshot.ts'
import { changedPaths, pathText } from './git/tree-paths.ts'

/** The paths that differ between a tree of the worktree and what is there now. */
export async function changedSince(worktree: string, before: string, { signal }: Cancellable): Promise<string[]> {
  const tree = await readTree(worktree, { signal })
  if (tree === before) return []
  return (await changedPaths(worktree, before, tree, { signal })).map(({ key }) => pathText(key))
}
