import { runGit, splitNul } from './run-git.ts'
import type { GitOptions } from './run-git.ts'

type Options = Pick<GitOptions, 'signal'>

/** Counts the paths in which two trees (or commits) differ. */
export async function countChanged(cwd: string, before: string, after: string, { signal }: Options): Promise<number> {
  const args = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', before, after, '--']
  return splitNul((await runGit(cwd, args, { signal })).stdout).length
}

/** Counts the files of a tree (or commit). */
export async function countFiles(cwd: string, tree: string, { signal }: Options): Promise<number> {
  let files = 0
  const onOutput = (chunk: Buffer): 'more' => {
    for (const byte of chunk) if (byte === 0) files += 1
    return 'more'
  }
  await runGit(cwd, ['ls-tree', '-r', '-z', '--name-only', '--full-tree', tree], { signal, onOutput })
  return files
}

/**
 * Counts the files changed by commits that only this one leads to and no branch or tag but `except`; of the last
 * 1,000 commits.
 */
export async function countLooseFiles(
  cwd: string,
  commit: string,
  { signal, except }: Options & { readonly except?: string },
): Promise<number> {
  const exclude = except === undefined ? [] : [`--exclude=${except.replace(/^refs\/heads\//, '')}`]
  const range = [commit, '--not', ...exclude, '--branches', '--remotes', '--tags']
  const args = ['log', '-n', '1000', '-z', '--format=', '--name-only', '--no-renames', '--first-parent', '-m', ...range]
  const names = splitNul((await runGit(cwd, args, { signal })).stdout).map((name) => name.replace(/^\n+/, ''))
  return new Set(names.filter((name) => name !== '')).size
}
