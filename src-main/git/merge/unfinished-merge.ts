import { WorkspaceError } from '../../ports/workspace-error.ts'
import type { UpdateRequest, UpdateResult } from '../../ports/branch-updater.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { currentBranch, isAncestor, resolveBase, resolveCommit } from '../commands/branch.ts'
import { commitEverything } from '../commands/commit.ts'
import { readHunks } from '../commands/conflict-hunks.ts'
import { mergeTrees, type ConflictedTree } from '../commands/merge.ts'
import { readStatus } from '../commands/status.ts'
import { changedPaths, pathText } from '../commands/tree-paths.ts'
import { startMerge, unfinishedCommand } from '../commands/unfinished.ts'
import { markUnresolved, unresolvedPaths } from '../commands/unmerged.ts'
import type { UpdateSides } from './plan-update.ts'
import { overwrittenPaths } from './target-checkout.ts'

type InWorktree = UpdateRequest & { readonly path: string }
type Conflict = Extract<UpdateResult, { kind: 'conflict' }>

/**
 * Continues a merge in progress in the worktree: concludes it when all is resolved, else returns what is not. Throws
 * when the worktree is on another branch, or in the middle of something else than a merge of the base.
 */
export async function resumeMerge(
  request: InWorktree,
  { signal }: Cancellable,
): Promise<'none' | 'concluded' | Conflict> {
  const { path, branch, message } = request
  const current = await currentBranch(path, { signal })
  const command = await unfinishedCommand(path)
  if (command !== null && command !== 'merge') {
    throw new WorkspaceError(
      'unfinished_merge',
      `A ${command} is unfinished in the worktree ${path}. Finish it there (git ${command} --continue) or give it up (git ${command} --abort), then try again.`,
    )
  }
  if (current !== branch) {
    const where = current === null ? 'on no branch' : `on ${current}`
    throw new WorkspaceError(
      'git_failed',
      `The worktree ${path} is ${where} instead of ${branch}. Run "git switch ${branch}" there, then try again.`,
    )
  }
  if (command === null) return 'none'
  const left = await readLeft(request, { signal })
  if (left !== null) return left
  await commitEverything(path, message, { signal })
  return 'concluded'
}

/** Returns what is unresolved in the merge of the base; null when no merge, or another one, is in progress. */
async function readLeft(request: InWorktree, { signal }: Cancellable): Promise<Conflict | null> {
  const { path, branch, base_branch } = request
  const files = await unresolvedPaths(path, { signal })
  const [head, merged, base] = await Promise.all([
    resolveCommit(path, 'HEAD', { signal }),
    resolveCommit(path, 'MERGE_HEAD', { signal }),
    resolveBase(path, base_branch, { signal }),
  ])
  if (files.length === 0 || head === null || merged === null || base === null) return null
  if (!(await isAncestor(path, merged, base, { signal }))) return null
  const tree = await mergeTrees(path, head, merged, { signal })
  const names = { ours: branch, theirs: base_branch }
  const hunks = tree.kind === 'conflict' ? await readHunks(path, tree, names, { signal }) : []
  const open = new Set(files)
  return { kind: 'conflict', left: true, head, base: merged, files, hunks: hunks.filter((one) => open.has(one.path)) }
}

/**
 * Starts the merge of the base in the worktree, whatever the strategy, because an editor can finish only that. A merge
 * without conflicts is concluded at once.
 */
export async function startManualMerge(
  request: InWorktree,
  { head, base }: UpdateSides,
  { signal }: Cancellable,
): Promise<UpdateResult> {
  const { path, branch, base_branch, message } = request
  const merged = await mergeTrees(path, head, base, { signal })
  // git overwrites ignored files, but people need theirs.
  const changes = await changedPaths(path, head, merged.tree, { signal })
  const inTheWay = await overwrittenPaths([path], changes, { signal })
  if (inTheWay.length > 0) return { kind: 'in_the_way', files: inTheWay }
  const names = { ours: branch, theirs: base_branch }
  const hunks = merged.kind === 'conflict' ? await readHunks(path, merged, names, { signal }) : []
  await startMerge(path, base, message, { signal })
  const { unmerged } = await readStatus(path, { signal, untracked: 'no' })
  const taken = merged.kind === 'conflict' ? takenForMerged(merged, unmerged) : []
  if (taken.length > 0) await markUnresolved(path, taken, { ours: head, theirs: base }, { signal })
  const files = [...unmerged, ...taken.map(pathText)]
  if (files.length > 0) return { kind: 'conflict', left: true, head, base, files, hunks }
  await commitEverything(path, message, { signal })
  const now = await resolveCommit(path, 'HEAD', { signal })
  return { kind: 'updated', strategy: 'merge', head: now ?? head, base, rescue_ref: null }
}

/** Returns conflicting files that git does not report as such in the worktree. */
const takenForMerged = ({ paths }: ConflictedTree, unmerged: readonly string[]): readonly string[] =>
  paths.filter(({ kind, path }) => kind === 'rename/collision' && !unmerged.includes(path)).map(({ key }) => key)
