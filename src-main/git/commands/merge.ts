import { WorkspaceError } from '../../ports/workspace-error.ts'
import { commitTree } from './commit.ts'
import { GitError } from './git-error.ts'
import { readMerge, type UnmergedPath } from './merge-output.ts'
import { readGit, runGit } from './run-git.ts'
import type { GitOptions } from './run-git.ts'

type Options = Pick<GitOptions, 'signal'>

/** A merge with conflicts. */
export interface ConflictedTree {
  readonly kind: 'conflict'
  /** The result as far as git got, with markers in the conflicting files. The markers name the two commits. */
  readonly tree: string
  readonly ours: string
  readonly theirs: string
  readonly paths: readonly UnmergedPath[]
  readonly files: readonly string[]
}

export type MergedTree = { readonly kind: 'clean'; readonly tree: string } | ConflictedTree

/** Merges two commits in the object store. */
export async function mergeTrees(cwd: string, ours: string, theirs: string, { signal }: Options): Promise<MergedTree> {
  const args = ['merge-tree', '--write-tree', '-z', '--messages', ours, theirs]
  try {
    const result = await runGit(cwd, args, { signal, accept: [0, 1], access: 'write' })
    const { tree, paths } = readMerge(result, [ours, theirs])
    if (paths.length === 0) return { kind: 'clean', tree }
    const files = [...new Set(paths.map(({ path }) => path))]
    return { kind: 'conflict', tree, ours, theirs, paths, files }
  } catch (error) {
    const unknownOption = error instanceof GitError && error.exit_code === 129
    if (unknownOption) throw new WorkspaceError('git_failed', 'Merging needs git 2.38 or newer.', { cause: error })
    throw error
  }
}

export type Replayed =
  | { readonly kind: 'clean'; readonly commit: string; readonly tree: string; readonly has_merges: boolean }
  | (ConflictedTree & { readonly has_merges: boolean })

/**
 * Replays the commits that `head` has and `onto` has not on top of `onto`, with their authors and messages, in the
 * object store. Skips merge commits, commits that change nothing, and those that `without` has.
 */
export async function replay(
  cwd: string,
  onto: string,
  head: string,
  { signal, without = null }: Options & { readonly without?: string | null },
): Promise<Replayed> {
  const others = without === null ? [] : [`^${without}`]
  const range = ['--reverse', '--topo-order', '--parents', `${onto}..${head}`, ...others]
  const lines = (await readGit(cwd, ['rev-list', ...range], { signal })).split('\n').filter((line) => line !== '')
  const commits = lines.map((line) => line.split(' '))
  const hasMerges = commits.some((ids) => ids.length > 2)
  let tip = onto
  let tree = await treeOf(cwd, onto, { signal })
  for (const [commit = '', parent] of commits.filter((ids) => ids.length <= 2)) {
    const before = parent === undefined ? await emptyTree(cwd, { signal }) : await treeOf(cwd, parent, { signal })
    const after = await treeOf(cwd, commit, { signal })
    const merged = await mergeWithBase(cwd, { base: before, ours: tree, theirs: after }, { signal })
    if (merged.kind === 'conflict') return { ...merged, has_merges: hasMerges }
    if (merged.tree === tree && before !== after) continue
    tip = await recommit(cwd, commit, { tree: merged.tree, parent: tip }, { signal })
    tree = merged.tree
  }
  return { kind: 'clean', commit: tip, tree, has_merges: hasMerges }
}

export async function treeOf(cwd: string, commit: string, { signal }: Options): Promise<string> {
  return await readGit(cwd, ['rev-parse', '--verify', '--end-of-options', `${commit}^{tree}`], { signal })
}

/** Returns the ID of the empty tree, in the repository's hash algorithm. */
export async function emptyTree(cwd: string, { signal }: Options): Promise<string> {
  return await readGit(cwd, ['hash-object', '-w', '-t', 'tree', '--stdin'], { signal, input: '', access: 'write' })
}

/**
 * Merges with a given base through two temporary commits that have it as their only parent, because `merge-tree
 * --merge-base` needs git 2.40.
 */
export async function mergeWithBase(
  cwd: string,
  trees: { readonly base: string; readonly ours: string; readonly theirs: string },
  { signal }: Options,
): Promise<MergedTree> {
  if (trees.base === trees.ours) return { kind: 'clean', tree: trees.theirs }
  const make = (tree: string, parents: readonly string[]): Promise<string> =>
    commitTree(cwd, { tree, parents, message: 'Step of a replay' }, { signal })
  const base = await make(trees.base, [])
  return await mergeTrees(cwd, await make(trees.ours, [base]), await make(trees.theirs, [base]), { signal })
}

export async function recommit(
  cwd: string,
  commit: string,
  onto: { readonly tree: string; readonly parent: string },
  { signal }: Options,
): Promise<string> {
  const format = '--format=%an%x00%ae%x00%ad%x00%B'
  const args = ['log', '-1', '--no-show-signature', '--encoding=UTF-8', '--date=raw', format, commit]
  const [name = '', email = '', date = '', message = ''] = (await readGit(cwd, args, { signal })).split('\0')
  const env = { GIT_AUTHOR_NAME: name || 'unknown', GIT_AUTHOR_EMAIL: email, GIT_AUTHOR_DATE: date }
  return await commitTree(cwd, { tree: onto.tree, parents: [onto.parent], message }, { signal, env })
}
