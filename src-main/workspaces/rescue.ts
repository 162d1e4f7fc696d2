import { resolveCommit, isReachable, moveRef } from './git/branch.ts'
import { commitTree } from './git/commit.ts'
import { treeOf } from './git/merge.ts'
import { runGit, splitNul } from './git/run-git.ts'
import { withSnapshot } from './git/snapshot.ts'
import type { Cancellable } from '../engine/ports.ts'

export interface Rescued {
  /** The ref that keeps what was uncommitted, null when all was committed. */
  readonly ref: string | null
  /** False when the commit can't hold everything: unreadable files, or repositories within the worktree. */
  readonly complete: boolean
  /** False when some file could not be read, or is a repository without a commit. */
  readonly readable: boolean
}

/** Keeps what is uncommitted in a worktree as a commit on top of its HEAD. The worktree stays as it is. */
export async function rescueUncommitted(
  path: string,
  task: string,
  { signal, now }: Cancellable & { readonly now: () => number },
): Promise<Rescued> {
  return await withSnapshot(path, { signal, objects: 'kept' }, async ({ tree, complete: readable }) => {
    const head = await resolveCommit(path, 'HEAD', { signal })
    if (head !== null && (await treeOf(path, head, { signal })) === tree)
      return { ref: null, complete: readable, readable }
    const message = `What was uncommitted in the workspace of task ${task}\n`
    const commit = await commitTree(path, { tree, parents: head === null ? [] : [head], message }, { signal })
    const ref = await keepCommit(path, commit, task, { signal, now })
    const complete = readable && !(await addsRepositories(path, head, commit, { signal }))
    return { ref, complete, readable }
  })
}

/** Keeps a commit under `refs/svc/rescue/{task}/{time}`. */
export async function keepCommit(
  cwd: string,
  commit: string,
  task: string,
  { signal, now }: Cancellable & { readonly now: () => number },
): Promise<string> {
  const time = new Date(now()).toISOString().replaceAll(/[-:.]/g, '')
  for (let number = 1; number < 100; number += 1) {
    const ref = `refs/svc/rescue/${task}/${time}${number === 1 ? '' : `-${number}`}`
    if (await moveRef(cwd, ref, { to: commit, from: null, reason: 'copse: rescue' }, { signal })) return ref
    if ((await resolveCommit(cwd, ref, { signal })) === commit) return ref
  }
  throw new Error(`No rescue ref could be made for task ${task} at ${time}.`)
}

/** Keeps a commit unless some other ref leads to it anyway. */
export async function keepUnlessReachable(
  cwd: string,
  commit: string,
  task: string,
  options: Cancellable & { readonly now: () => number; readonly except?: string },
): Promise<string | null> {
  const { signal, except } = options
  if (await isReachable(cwd, commit, { signal, ...(except !== undefined && { except }) })) return null
  return await keepCommit(cwd, commit, task, options)
}

/** git records a repository within a worktree by its commit only; its files are not in the rescue. */
async function addsRepositories(
  cwd: string,
  head: string | null,
  commit: string,
  { signal }: Cancellable,
): Promise<boolean> {
  const before = head === null ? 0 : await countRepositories(cwd, head, { signal })
  return (await countRepositories(cwd, commit, { signal })) > before
}

async function countRepositories(cwd: string, commit: string, { signal }: Cancellable): Promise<number> {
  const { stdout } = await runGit(cwd, ['ls-tree', '-r', '-z', '--format=%(objectmode)', commit], { signal })
  return splitNul(stdout).filter((mode) => mode === '160000').length
}
