import type { DiffStat } from '../../src-shared/contract/tasks.ts'
import type { Diff, diffScopes } from '../../src-shared/contract/workspaces.ts'
import { WorkspaceError } from '../engine/ports.ts'
import type { BranchRef, Cancellable } from '../engine/ports.ts'
import { branchRef, isAncestor, mergeBase, resolveBase, resolveCommit } from './git/branch.ts'
import { treeDiff, treeDiffStat } from './git/diff.ts'
import { emptyTree } from './git/merge.ts'
import { withSnapshot } from './git/snapshot.ts'
import { readGitLink } from './git/worktree.ts'

type Scope = (typeof diffScopes)[number]

/** What a task changed, see `Workspaces.diff`. Neither the worktree's index nor the repository is written to. */
export async function readDiff(
  ref: BranchRef,
  scope: Scope,
  file: string | null,
  { signal }: Cancellable,
): Promise<Diff> {
  return await withSides(ref, scope, { signal }, async ({ cwd, base, from, to, env }) => ({
    base,
    ...(await treeDiff(cwd, from, to, { signal, env, file })),
  }))
}

/** The size of everything since the branch left its base, committed or not. */
export async function readDiffStat(ref: BranchRef, { signal }: Cancellable): Promise<DiffStat> {
  return await withSides(ref, 'branch', { signal }, ({ cwd, from, to, env }) =>
    treeDiffStat(cwd, from, to, { signal, env }),
  )
}

interface DiffSides {
  readonly cwd: string
  /** The commit that the diff is against, null when there is none in common. */
  readonly base: string | null
  readonly from: string
  readonly to: string
  readonly env: Readonly<Record<string, string>>
}

async function withSides<T>(
  ref: BranchRef,
  scope: Scope,
  { signal }: Cancellable,
  use: (sides: DiffSides) => Promise<T>,
): Promise<T> {
  const worktree = ref.path !== null && (await readGitLink(ref.path)) !== null ? ref.path : null
  const cwd = worktree ?? ref.repo_path
  const head = await resolveCommit(cwd, worktree === null ? branchRef(ref.branch) : 'HEAD', { signal })
  if (head === null && worktree === null) {
    throw new WorkspaceError('git_failed', `The branch "${ref.branch}" is gone; there is nothing to compare.`)
  }
  const base = head === null || scope === 'uncommitted' ? head : await forkPoint(cwd, head, ref, { signal })
  const from = base ?? (await emptyTree(cwd, { signal }))
  if (worktree === null) return await use({ cwd, base, from, to: head ?? from, env: {} })
  return await withSnapshot(worktree, { signal, objects: 'thrown_away' }, ({ tree, env }) =>
    use({ cwd, base, from, to: tree, env }),
  )
}

/**
 * Where the branch left its base. Once the branch is merged, the two meet at its head, which says nothing any more;
 * then it is the commit that the worktree was made from.
 */
async function forkPoint(cwd: string, head: string, ref: BranchRef, { signal }: Cancellable): Promise<string | null> {
  const tip = await resolveBase(cwd, ref.base_branch, { signal })
  const fork = tip === null ? null : await mergeBase(cwd, tip, head, { signal })
  if (fork !== null && fork !== head) return fork
  const { base_commit: start } = ref
  return start !== null && (await isAncestor(cwd, start, head, { signal })) ? start : fork
}
