import { lstat, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Cancellable } from '../../ports/cancellable.ts'
import type { BranchRef } from '../../ports/branch-ref.ts'
import type { InnerRepositories } from '../../ports/worktree-store.ts'
import { orNull } from '../files/file-errors.ts'
import { listInner } from '../commands/nested.ts'
import { readGit, runGit, splitNul } from '../commands/run-git.ts'
import { withSnapshot } from '../commands/snapshot.ts'
import { pathText } from '../commands/tree-paths.ts'
import { removeRescued } from '../rescue/remove-rescued.ts'
import type { RescueOptions } from '../rescue/rescue.ts'
import { keepInner } from './submodules.ts'

type Worktree = Pick<BranchRef, 'repo_path' | 'base_branch' | 'base_commit'> & { readonly path: string }

/** Returns the repositories inside a worktree that a merge would leave behind, in whole or in part. */
export async function readInner(worktree: Worktree, { signal }: Cancellable): Promise<InnerRepositories> {
  const inner = await listInner(worktree.path, { signal })
  const { nested } = inner
  const found: InnerRepositories['nested'][number][] = []
  for (const path of nested.map(pathText)) {
    found.push({ path, has_remote: await hasRemote(join(worktree.path, path), { signal }) })
  }
  return { nested: found, unpushed: await readUnpushed(worktree, inner, { signal }) }
}

/** Returns whether a repository, or one inside it, has a remote. */
async function hasRemote(path: string, { signal }: Cancellable): Promise<boolean> {
  if ((await readGit(path, ['remote'], { signal })) !== '') return true
  const { nested } = await listInner(path, { signal })
  for (const inner of nested.map(pathText)) if (await hasRemote(join(path, inner), { signal })) return true
  return false
}

/** Returns submodules on another commit than in the base, which none of their remotes is known to have. */
async function readUnpushed(
  { path, base_commit }: Worktree,
  inner: Awaited<ReturnType<typeof listInner>>,
  { signal }: Cancellable,
): Promise<readonly string[]> {
  if (inner.links.size === 0) return []
  const base = base_commit === null ? null : await linksOf(path, base_commit, { signal })
  const nested = new Set(inner.nested.map(pathText))
  const unpushed: string[] = []
  for (const name of [...inner.links.keys()].map(pathText)) {
    const submodule = join(path, name)
    if (nested.has(name) || (await orNull(lstat(join(submodule, '.git')))) === null) continue
    const head = await readGit(submodule, ['rev-parse', '--verify', '--quiet', 'HEAD'], { signal, accept: [0, 1, 128] })
    if (head === '' || base?.get(name) === head) continue
    const args = ['for-each-ref', '--count=1', '--contains', head, '--format=%(refname)', 'refs/remotes']
    if ((await readGit(submodule, args, { signal })) === '') unpushed.push(name)
  }
  return unpushed
}

/** Returns the commits of other repositories in a commit, by path. */
async function linksOf(cwd: string, commit: string, { signal }: Cancellable): Promise<ReadonlyMap<string, string>> {
  const { stdout } = await runGit(cwd, ['ls-tree', '-r', '-z', '--full-tree', commit], { signal })
  const links = splitNul(stdout).filter((line) => line.startsWith('160000 '))
  return new Map(
    links.map((line) => {
      const tab = line.indexOf('\t')
      return [line.slice(tab + 1), /[0-9a-f]{40,64}/.exec(line.slice(0, tab))?.[0] ?? '']
    }),
  )
}

/** Converts nested repositories to plain files, after their history was saved as rescues. */
export async function absorbNested(
  { repo_path, path }: Worktree,
  task: string,
  names: readonly string[],
  options: RescueOptions,
): Promise<void> {
  for (const name of names) {
    const inner = join(path, name)
    const kept = await keepInner(repo_path, inner, name, task, options)
    options.signal.throwIfAborted()
    // Innermost first, in the order in which they were saved.
    for (const one of kept) await rm(join(one.path, '.git'), { recursive: true, force: true, maxRetries: 3 })
    await forgetLink(path, name, options)
  }
}

/** Removes nested repositories from a worktree, after each was saved completely as a rescue. */
export async function removeNested(
  { repo_path, path }: Worktree,
  task: string,
  names: readonly string[],
  options: RescueOptions,
): Promise<void> {
  for (const name of names) {
    const inner = join(path, name)
    const kept = (await keepInner(repo_path, inner, name, task, options)).at(-1)
    await removeRescued(
      inner,
      (folder) =>
        withSnapshot(folder, options, ({ tree, complete }) => Promise.resolve(complete && tree === kept?.kept.tree)),
      options,
    )
    await forgetLink(path, name, options)
  }
}

/** Removes the repository's commit from the index, because with it git would not read the files. */
async function forgetLink(path: string, name: string, { signal }: Cancellable): Promise<void> {
  const listed = await readGit(path, ['--literal-pathspecs', 'ls-files', '--stage', '--', name], { signal })
  if (!listed.startsWith('160000 ')) return
  const input = `${name}\0`
  await runGit(path, ['update-index', '-z', '--force-remove', '--stdin'], { signal, access: 'write', input })
}
