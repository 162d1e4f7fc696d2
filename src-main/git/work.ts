import { join } from 'node:path'
import type { Cancellable } from '../ports/cancellable.ts'
import type { LineChange } from '../../src-shared/contract/comments.ts'
import type { LinePlace } from '../ports/diff-reader.ts'
import type { BranchRef } from '../ports/branch-ref.ts'
import type { Work } from '../ports/work-keeper.ts'
import { branchRef, moveRef, readOddHead, resolveCommit } from './commands/branch.ts'
import { requireLink } from './commands/own-worktree.ts'
import { treeWithoutLock } from './commands/committed-lock.ts'
import { commitTree } from './commands/commit.ts'
import { readGitLink } from './commands/git-link.ts'
import { readLineChanges } from './commands/line-changes.ts'
import { emptyTree, treeOf } from './commands/merge.ts'
import { peekHead } from './commands/peek.ts'
import { readCommits } from './commands/refs.ts'
import { runGit } from './commands/run-git.ts'
import { readTree } from './commands/snapshot.ts'
import { changedPaths, pathText } from './commands/tree-paths.ts'
import { hasMessage, unfinishedCommand } from './commands/unfinished.ts'
import { refuseUnresolved, unresolvedPaths } from './commands/unmerged.ts'
import type { TakenDiff } from './read-diff.ts'
import { readPlain } from './files/plain-file.ts'

/** Returns the commit and tree of all of a task's work, committed or not; its objects stay in the repository. */
export async function readWork(ref: BranchRef, { signal }: Cancellable): Promise<Work | null> {
  const base = ref.base_commit
  const path = ref.path === null || (await requireLink(ref.path)) === null ? null : ref.path
  if (path === null) {
    const head = await resolveCommit(ref.repo_path, branchRef(ref.branch), { signal })
    if (head === null) return null
    const tree = await treeOf(ref.repo_path, head, { signal })
    return { head, tree: await treeWithoutLock(ref.repo_path, { commit: head, tree, base }, { signal }) }
  }
  const head = (await peekHead(path))?.commit ?? (await readOddHead(path, ref.branch, { signal }))
  return head === null ? null : { head, tree: await readTree(path, { signal, base }) }
}

/**
 * Commits exactly this work and moves the branch to it, without reading the worktree. A branch that has moved on
 * stays. Refuses files that still have conflict markers of an unfinished merge, and concludes that merge.
 */
export async function commitWork(
  ref: BranchRef,
  { head, tree }: Work,
  message: string,
  { signal }: Cancellable,
): Promise<string> {
  const git_dir = ref.path === null ? null : await readGitLink(ref.path)
  const worktree = git_dir === null ? null : ref.path
  const cwd = worktree ?? ref.repo_path
  const isMerging = worktree !== null && (await unfinishedCommand(worktree)) === 'merge'
  if (isMerging) await refuseUnresolved(worktree, { signal })
  const [tip] = await readCommits(cwd, [head], { signal })
  if (tip.tree === tree && !isMerging) return head
  const made = await alreadyMade(ref, { head, tree }, { signal })
  if (made !== null) return made
  const merging = isMerging && git_dir !== null ? await readMerge(worktree, git_dir) : null
  const parents = [head, ...(merging?.heads ?? [])]
  const commit = await commitTree(cwd, { tree, parents, message: merging?.message ?? message }, { signal })
  const move = { to: commit, from: head, reason: 'copse: keep uncommitted work' }
  const isMoved = await moveRef(cwd, branchRef(ref.branch), move, { signal, reflog: true })
  if (!isMoved || worktree === null) return commit
  // The files stay. If another process holds the index, it stays behind, which loses nothing.
  const options = { signal, access: 'write', accept: [0, 1, 128] } as const
  if (merging) await runGit(worktree, ['merge', '--quit'], options)
  await runGit(worktree, ['read-tree', '--reset', commit], options)
  await runGit(worktree, ['update-index', '-q', '--refresh'], options)
  return commit
}

/**
 * Returns a commit of all of the work as it is now: the branch's tip, or one on top of it that no ref names. A merge
 * that is unfinished counts once all of it is resolved. null without worktree or branch.
 */
export async function workAsCommit(ref: BranchRef, { signal }: Cancellable): Promise<string | null> {
  const work = ref.path === null ? null : await readWork(ref, { signal })
  const git_dir = ref.path === null ? null : await readGitLink(ref.path)
  if (work === null || ref.path === null || git_dir === null) return null
  const merging = await readMerge(ref.path, git_dir)
  if (merging.heads.length > 0 && (await unresolvedPaths(ref.path, { signal })).length > 0) return work.head
  const parents = [work.head, ...merging.heads]
  const isCommitted = parents.length === 1 && (await treeOf(ref.path, work.head, { signal })) === work.tree
  if (isCommitted) return work.head
  return await commitTree(ref.path, { tree: work.tree, parents, message: 'Work' }, { signal })
}

/** Returns the commit that an earlier attempt made of the work, before a crash. */
async function alreadyMade(ref: BranchRef, { head, tree }: Work, { signal }: Cancellable): Promise<string | null> {
  const now = await resolveCommit(ref.repo_path, branchRef(ref.branch), { signal })
  if (now === null || now === head) return null
  const [tip] = await readCommits(ref.repo_path, [now], { signal })
  return tip.tree === tree && tip.parents[0] === head ? now : null
}

async function readMerge(worktree: string, git_dir: string) {
  const heads = ((await readPlain(join(git_dir, 'MERGE_HEAD'))) ?? '').split('\n').filter(Boolean)
  const text = (await hasMessage(worktree)) ? await readPlain(join(git_dir, 'MERGE_MSG')) : null
  const message = text?.replaceAll(/^#.*\n?/gm, '').trim()
  return { heads, ...(message && { message }) }
}

/** Returns how lines changed since a tree of the work, see `DiffReader.lineChanges`. */
export async function readLinesSince(
  ref: BranchRef,
  since: string,
  places: readonly LinePlace[],
  { signal }: Cancellable,
): Promise<readonly (LineChange | null)[]> {
  const cwd = ref.path ?? ref.repo_path
  const work = (await resolveTree(cwd, since, { signal })) ? await readWork(ref, { signal }) : null
  return work === null ? places.map(() => null) : await readLineChanges(cwd, since, work.tree, places, { signal })
}

/** Caches shown diffs by the tree of the work, because that tree is in no repository. */
export function createShownDiffs() {
  const maxShown = 200
  const shown = new Map<string, Pick<TakenDiff, 'from' | 'listing'>>()
  return {
    note({ diff, from, listing }: TakenDiff): void {
      if (diff.tree === null) return
      shown.delete(diff.tree)
      shown.set(diff.tree, { from, listing })
      const [oldest] = shown.keys()
      if (shown.size > maxShown && oldest !== undefined) shown.delete(oldest)
    },
    /** Returns the paths that differ between a tree that was shown or judged and the one that is there now. */
    async changed(cwd: string, before: string, now: string, { signal }: Cancellable): Promise<readonly string[]> {
      if (before === now) return []
      const known = shown.get(before)
      const isThere = await resolveTree(cwd, before, { signal })
      if (isThere) return (await changedPaths(cwd, before, now, { signal })).map(({ key }) => pathText(key))
      const from = known?.from ?? (await emptyTree(cwd, { signal }))
      const changes = await changedPaths(cwd, from, now, { signal })
      const listing = new Map(changes.map(({ key, mode, id }) => [pathText(key), `${mode} ${id}`]))
      if (!known) return [...listing.keys()]
      const paths = new Set([...known.listing.keys(), ...listing.keys()])
      return [...paths].filter((path) => !isSame(known.listing.get(path), listing.get(path))).sort()
    },
  }
}

/** Returns whether two entries are equal. One side describes a deletion without a mode, the other with zeros. */
function isSame(one: string | undefined, other: string | undefined): boolean {
  const plain = (entry: string | undefined): string | undefined => (entry && /^0* 0*$/.test(entry) ? ' ' : entry)
  return plain(one) === plain(other)
}

async function resolveTree(cwd: string, tree: string, { signal }: Cancellable): Promise<boolean> {
  const { exit_code } = await runGit(cwd, ['cat-file', '-e', `${tree}^{tree}`], { signal, accept: [0, 1, 128] })
  return exit_code === 0
}
