import type { DiffStat } from '../../src-shared/contract/tasks.ts'
import type { diffScopes } from '../../src-shared/contract/workspaces.ts'
import type { DiffQuery, FileDiff } from '../ports/diff-reader.ts'
import { WorkspaceError } from '../ports/workspace-error.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import type { BranchRef } from '../ports/branch-ref.ts'
import { branchRef, isAncestor, knownMergeBase, readOddHead, resolveBase, resolveCommit } from './commands/branch.ts'
import { readPatch, readStat } from './commands/diff.ts'
import type { DiffSides } from './commands/diff.ts'
import { treeWithoutLock } from './commands/committed-lock.ts'
import { GitError } from './commands/git-error.ts'
import { withFrozenTree } from './commands/frozen-tree.ts'
import { emptyTree, treeOf } from './commands/merge.ts'
import { peekBranch, peekHead } from './commands/peek.ts'
import { requireLink } from './commands/own-worktree.ts'
import type { WorktreeIndexes } from './commands/worktree-index.ts'

export type DiffScope = (typeof diffScopes)[number]

/** A diff, and the data to find later changes. */
export interface TakenDiff {
  readonly diff: FileDiff
  /** The commit or tree that all work is compared with. */
  readonly from: string
  /** Mode and content by path of all that differs from `from`. */
  readonly listing: ReadonlyMap<string, string>
}

interface Reading extends Cancellable {
  readonly indexes: WorktreeIndexes
}

/** Reads a task's changes, see `DiffReader.diff`. Writes neither to the worktree's index nor to the repository. */
export async function readDiff(
  ref: BranchRef,
  scope: DiffScope,
  file: string | null,
  { signal, indexes, ignore_whitespace = false, since = null }: Reading & DiffQuery,
): Promise<TakenDiff> {
  const { base, head, ...found } = await findSides(ref, scope, { signal, since })
  const { read, tree, unread } = await compare(found, { signal, indexes }, async (sides) => {
    const whole = sides.tree()
    // Prevents an unhandled rejection if the patch fails first.
    whole.catch(() => undefined)
    const patch = await readPatch(sides, { signal, file, ignore_whitespace })
    return { read: patch, tree: await whole, unread: sides.unread }
  })
  const listing = new Map(read.changes.map((one) => [one.path, `${one.new_mode ?? ''} ${one.new_blob ?? ''}`]))
  for (const { old_path } of read.changes) if (old_path !== null) listing.set(old_path, ' ')
  for (const { path, content } of unread) listing.set(path, content)
  return { diff: { base, head, tree, ...read.diff }, from: found.from, listing }
}

/** Measures all changes since the branch left its base, committed or not. */
export async function readDiffStat(ref: BranchRef, { signal, indexes }: Reading): Promise<DiffStat> {
  const found = await findSides(ref, 'branch', { signal, since: null })
  return await compare(found, { signal, indexes }, (sides) => readStat(sides, { signal }))
}

/** Reads a branch's side with all of its work, committed or not, compared with its base. */
export async function compareBranch<T>(
  ref: BranchRef,
  reading: Reading,
  read: (sides: ComparedSides) => Promise<T>,
): Promise<T> {
  return await compare(await findSides(ref, 'branch', { signal: reading.signal, since: null }), reading, read)
}

interface FoundSides {
  readonly cwd: string
  /** The folder of the worktree's index; null if there is no worktree. */
  readonly git_dir: string | null
  readonly from: string
  /** The commit to compare with if there is no worktree. */
  readonly to: string
}

/** Sides of the diff of all work. */
export interface ComparedSides extends DiffSides {
  /** Returns the tree of everything that the diff could show. */
  tree(): Promise<string>
}

/**
 * Compares with the content of the worktree, or of the branch if there is none. If git can't read the worktree (a
 * file vanishes while it is read), uses copies of the readable files.
 */
async function compare<T>(
  { cwd, git_dir, from, to }: FoundSides,
  { signal, indexes }: Reading,
  read: (sides: ComparedSides) => Promise<T>,
): Promise<T> {
  if (git_dir === null) {
    const whole = await treeOf(cwd, to, { signal })
    const tree = await treeWithoutLock(cwd, { commit: to, tree: whole, base: from }, { signal })
    const sides = { cwd, from, env: {}, unread: [], tree: () => Promise.resolve(tree) }
    return await read({ ...sides, to: tree === whole ? to : tree })
  }
  try {
    return await indexes.read(cwd, { signal, git_dir, base: from }, ({ env, writeTree, unread }) =>
      read({ cwd, from, to: null, env, unread, tree: writeTree }),
    )
  } catch (error) {
    if (!(error instanceof GitError) || error.code !== 'failed') throw error
  }
  return await withFrozenTree(cwd, { signal, git_dir, base: from }, (tree, env, unread) =>
    read({ cwd, from, to: tree, env, unread, tree: () => Promise.resolve(tree) }),
  )
}

/** Finds where a task's work is, and what it is compared with. */
export async function findSides(
  ref: BranchRef,
  scope: DiffScope,
  { signal, since }: Cancellable & { readonly since: string | null },
): Promise<
  FoundSides & {
    /** The commit that the diff is against; null if there is no common one. */
    readonly base: string | null
    /** The commit of the worktree or branch, null if there is none yet. */
    readonly head: string | null
  }
> {
  const git_dir = ref.path === null ? null : await requireLink(ref.path)
  const worktree = git_dir === null ? null : ref.path
  const cwd = worktree ?? ref.repo_path
  const head =
    worktree === null
      ? await resolveCommit(cwd, branchRef(ref.branch), { signal })
      : ((await peekHead(worktree))?.commit ?? (await readOddHead(worktree, ref.branch, { signal })))
  if (head === null && worktree === null) {
    throw new WorkspaceError('git_failed', `The branch “${ref.branch}” is gone; there is nothing to compare.`)
  }
  const forked = async () =>
    head === null || scope === 'uncommitted' ? head : await forkPoint(cwd, head, ref, { signal })
  // A commit that is gone, as after a rewritten branch, can't show later changes.
  const base = (since === null ? null : await resolveCommit(cwd, since, { signal })) ?? (await forked())
  const from = base ?? (await emptyTree(cwd, { signal }))
  return { cwd, git_dir, base, head, from, to: head ?? from }
}

/**
 * Returns where the branch left its base. For a merged branch the merge base is its head, which is useless; then it is
 * the commit that the worktree was created from.
 */
async function forkPoint(cwd: string, head: string, ref: BranchRef, { signal }: Cancellable): Promise<string | null> {
  const { base_branch: base, base_commit: start } = ref
  const tip = (await peekBranch(cwd, base)) ?? (await resolveBase(cwd, base, { signal }))
  // The simplest case: no commit since the worktree was created.
  if (tip === head && (start === null || start === head)) return head
  const fork = tip === null ? null : await knownMergeBase(cwd, tip, head, { signal })
  if (fork !== null && fork !== head) {
    // A base that was rewritten has less in common with the branch than the commit that it was made from.
    return start !== null && (await isBetween(cwd, start, { fork, head }, { signal })) ? start : fork
  }
  return start !== null && (await isAncestor(cwd, start, head, { signal })) ? start : fork
}

async function isBetween(
  cwd: string,
  start: string,
  { fork, head }: { readonly fork: string; readonly head: string },
  { signal }: Cancellable,
): Promise<boolean> {
  if (start === fork || (await resolveCommit(cwd, start, { signal })) === null) return false
  const [above, within] = await Promise.all([
    knownMergeBase(cwd, start, fork, { signal }),
    knownMergeBase(cwd, start, head, { signal }),
  ])
  return above === fork && within === start
}
