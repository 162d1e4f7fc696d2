import type { RescueReason } from '../../src-shared/contract/rescues.ts'
import type { Cancellable } from '../engine/ports.ts'
import { isReachable, moveRef, resolveCommit } from './git/branch.ts'
import { commitTree } from './git/commit.ts'
import { countChanged, countLooseFiles } from './git/count-files.ts'
import { emptyTree, treeOf } from './git/merge.ts'
import { runGit, splitNul } from './git/run-git.ts'
import { stagedTree, withSnapshot } from './git/snapshot.ts'
import { writeNote, type RescueNote } from './rescue-note.ts'

export interface RescueOptions extends Cancellable {
  readonly now: () => number
  readonly reason: RescueReason
}

export interface Rescued {
  /** The ref that keeps what was uncommitted, null when all was committed. */
  readonly ref: string | null
  /** False when the commit can't hold everything: unreadable files, or repositories within the worktree. */
  readonly complete: boolean
  /** False when some file could not be read, or is a repository without a commit. */
  readonly readable: boolean
}

/**
 * Keeps what is uncommitted in a worktree as a commit on top of its HEAD: the files as they are on disk, and as its
 * second parent what was staged where that is neither what HEAD nor what the disk has. The worktree stays as it is.
 */
export async function rescueUncommitted(path: string, task: string, options: RescueOptions): Promise<Rescued> {
  const { signal } = options
  return await withSnapshot(path, { signal, objects: 'kept' }, async ({ tree, complete: readable }) => {
    const head = await resolveCommit(path, 'HEAD', { signal })
    const before = head === null ? await emptyTree(path, { signal }) : await treeOf(path, head, { signal })
    const staged = await stagedTree(path, { signal })
    const stagedOnly = staged === before || staged === tree ? null : staged
    if (before === tree && stagedOnly === null) return { ref: null, complete: readable, readable }
    const parents = head === null ? [] : [head]
    if (stagedOnly !== null) {
      const message = `What was staged in the workspace of task ${task}\n`
      parents.push(await commitTree(path, { tree: stagedOnly, parents, message }, { signal }))
    }
    const message = `What was uncommitted in the workspace of task ${task}\n`
    const commit = await commitTree(path, { tree, parents, message }, { signal })
    const files = await countChanged(path, before, before === tree ? (stagedOnly ?? tree) : tree, { signal })
    const ref = await keepCommit(path, commit, task, { ...options, note: { kind: 'uncommitted', files } })
    const complete = readable && !(await addsRepositories(path, head, commit, { signal }))
    return { ref, complete, readable }
  })
}

/** Keeps a commit under `refs/svc/rescue/{task}/{time}`, with a note of what it is. */
export async function keepCommit(
  cwd: string,
  commit: string,
  task: string,
  options: RescueOptions & { readonly note: Pick<RescueNote, 'kind' | 'files'> & { readonly submodule?: string } },
): Promise<string> {
  const { signal, now, reason, note } = options
  const time = new Date(now()).toISOString().replaceAll(/[-:.]/g, '')
  const text = writeNote({ submodule: null, ...note, reason })
  for (let number = 1; number < 100; number += 1) {
    const ref = `refs/svc/rescue/${task}/${time}${number === 1 ? '' : `-${number}`}`
    if (await moveRef(cwd, ref, { to: commit, from: null, reason: text }, { signal, reflog: true })) return ref
    if ((await resolveCommit(cwd, ref, { signal })) === commit) return ref
  }
  throw new Error(`No rescue ref could be made for task ${task} at ${time}.`)
}

/** Keeps a commit unless some other ref leads to it anyway. */
export async function keepUnlessReachable(
  cwd: string,
  commit: string,
  task: string,
  options: RescueOptions & { readonly except?: string },
): Promise<string | null> {
  const { signal, except } = options
  const but = except === undefined ? {} : { except }
  if (await isReachable(cwd, commit, { signal, ...but })) return null
  const files = await countLooseFiles(cwd, commit, { signal, ...but })
  return await keepCommit(cwd, commit, task, { ...options, note: { kind: 'commits', files } })
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
