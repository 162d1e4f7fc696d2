import type { DiffStat } from '../../src-shared/contract/tasks.ts'
import type { diffScopes } from '../../src-shared/contract/workspaces.ts'
import type { DiffWishes, FileDiff } from '../engine/ports/diff-reader.ts'
import { WorkspaceError } from '../engine/ports/workspaces.ts'
import type { Cancellable } from '../engine/ports/cancellable.ts'
import type { BranchRef } from '../engine/ports/workspaces.ts'
import { branchRef, isAncestor, knownMergeBase, resolveBase, resolveCommit } from './git/branch.ts'
import { readPatch, readStat } from './git/diff.ts'
import type { DiffSides } from './git/diff.ts'
import { GitError } from './git/git-error.ts'
import { withFrozenTree } from './git/frozen-tree.ts'
import { emptyTree } from './git/merge.ts'
import { peekBranch, peekHead } from './git/peek.ts'
import { withWholeIndex } from './git/whole-index.ts'
import { readGitLink } from './git/worktree.ts'

export type DiffScope = (typeof diffScopes)[number]

/** What a task changed, see `DiffReader.diff`. Neither the worktree's index nor the repository is written to. */
export async function readDiff(
  ref: BranchRef,
  scope: DiffScope,
  file: string | null,
  { signal, ignore_whitespace = false, since = null }: Cancellable & DiffWishes,
): Promise<FileDiff> {
  const { base, ...found } = await findSides(ref, scope, { signal, since })
  return {
    base,
    ...(await compare(found, { signal }, (sides) => readPatch(sides, { signal, file, ignore_whitespace }))),
  }
}

/** The size of everything since the branch left its base, committed or not. */
export async function readDiffStat(ref: BranchRef, { signal }: Cancellable): Promise<DiffStat> {
  return await compare(await findSides(ref, 'branch', { signal, since: null }), { signal }, (sides) =>
    readStat(sides, { signal }),
  )
}

interface FoundSides {
  readonly cwd: string
  /** Where the worktree's own index lies; null when there is no worktree. */
  readonly git_dir: string | null
  readonly from: string
  /** The commit to compare with when there is no worktree. */
  readonly to: string
}

/**
 * Compares with the worktree as it lies there. Where git cannot do that (a file vanishes while it is read, one
 * cannot be read, a merge is under way), with copies of what can be read.
 */
async function compare<T>(
  { cwd, git_dir, from, to }: FoundSides,
  { signal }: Cancellable,
  read: (sides: DiffSides) => Promise<T | null>,
): Promise<T> {
  const readWhole = async (sides: DiffSides): Promise<T> => {
    const result = await read(sides)
    if (result === null) throw new WorkspaceError('git_failed', `The differences in ${cwd} cannot be told. Try again.`)
    return result
  }
  if (git_dir === null) return await readWhole({ cwd, from, to, env: {}, unread: [] })
  try {
    const options = { signal, git_dir, known: from }
    const live = await withWholeIndex(cwd, options, (env, unread) => read({ cwd, from, to: null, env, unread }))
    if (live !== null) return live
  } catch (error) {
    if (!(error instanceof GitError) || error.code !== 'failed') throw error
  }
  return await withFrozenTree(cwd, { signal, git_dir }, (tree, env, unread) =>
    readWhole({ cwd, from, to: tree, env, unread }),
  )
}

async function findSides(
  ref: BranchRef,
  scope: DiffScope,
  { signal, since }: Cancellable & { readonly since: string | null },
): Promise<
  FoundSides & {
    /** The commit that the diff is against, null when there is none in common. */ readonly base: string | null
  }
> {
  const git_dir = ref.path === null ? null : await readGitLink(ref.path)
  const worktree = git_dir === null ? null : ref.path
  const cwd = worktree ?? ref.repo_path
  const head =
    worktree === null
      ? await resolveCommit(cwd, branchRef(ref.branch), { signal })
      : ((await peekHead(worktree))?.commit ?? (await resolveCommit(cwd, 'HEAD', { signal })))
  if (head === null && worktree === null) {
    throw new WorkspaceError('git_failed', `The branch "${ref.branch}" is gone; there is nothing to compare.`)
  }
  const forked = async () =>
    head === null || scope === 'uncommitted' ? head : await forkPoint(cwd, head, ref, { signal })
  // A commit that is gone, as after a rewritten branch, says nothing about what has changed since.
  const base = (since === null ? null : await resolveCommit(cwd, since, { signal })) ?? (await forked())
  const from = base ?? (await emptyTree(cwd, { signal }))
  return { cwd, git_dir, base, from, to: head ?? from }
}

/**
 * Where the branch left its base. Once the branch is merged, the two meet at its head, which says nothing any more;
 * then it is the commit that the worktree was made from.
 */
async function forkPoint(cwd: string, head: string, ref: BranchRef, { signal }: Cancellable): Promise<string | null> {
  const { base_branch: base, base_commit: start } = ref
  const tip = (await peekBranch(cwd, base)) ?? (await resolveBase(cwd, base, { signal }))
  // The plainest case: nothing was committed since the worktree was made.
  if (tip === head && (start === null || start === head)) return head
  const fork = tip === null ? null : await knownMergeBase(cwd, tip, head, { signal })
  if (fork !== null && fork !== head) return fork
  return start !== null && (await isAncestor(cwd, start, head, { signal })) ? start : fork
}
