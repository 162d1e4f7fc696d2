import { lstat, mkdir, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Cancellable } from '../../ports/cancellable.ts'
import { branchRef } from '../commands/branch.ts'
import { runGit } from '../commands/run-git.ts'
import { readTree } from '../commands/snapshot.ts'
import { makeTemporary } from '../commands/temporary-folder.ts'
import { changedPaths, parentsOf, pathBytes, type ChangedPath } from '../commands/tree-paths.ts'
import { commonDir } from '../commands/worktree.ts'
import { orNull } from '../files/file-errors.ts'
import { objectsEnv } from './make-snapshot.ts'

/** What a worktree is brought to. Commits are full object IDs. */
export interface WorktreeState {
  /** The task's branch, as a short name. */
  readonly branch: string
  readonly head: string
  /** A commit of `makeSnapshot` on top of `head`; null: nothing is uncommitted. */
  readonly snapshot: string | null
  /** Folders with objects that the repository doesn't have. */
  readonly objects: readonly string[]
}

/**
 * Brings a worktree to a state: HEAD on the branch, the branch at its commit (which the repository must have), index
 * and files as the snapshot has them. Only files that differ are written; ignored ones stay. The caller has made sure
 * that no work of the worktree is lost.
 */
export async function bringWorktree(worktree: string, state: WorktreeState, { signal }: Cancellable): Promise<void> {
  const { branch, head } = state
  const snapshot = state.snapshot === head ? null : state.snapshot
  const temporary = await makeTemporary('snapshot')
  try {
    const borrowed = [join(await commonDir(worktree, { signal }), 'objects'), ...state.objects]
    const own = join(temporary, 'objects')
    await mkdir(own)
    const objects = objectsEnv(own, borrowed)
    const git = (args: readonly string[], more: Parameters<typeof runGit>[2] | object = {}) =>
      runGit(worktree, args, {
        signal,
        access: 'write',
        ...more,
        env: { ...objects, ...('env' in more ? more.env : {}) },
      })
    const wanted = snapshot ?? head
    const now = await readTree(worktree, { signal, objects })
    const changes = await changedPaths(worktree, now, wanted, { signal, env: objects })
    const index = { env: { GIT_INDEX_FILE: join(temporary, 'wanted') } }
    await git(['read-tree', wanted], index)
    await removeFiles(worktree, changes)
    const written = changes.filter(({ status }) => status !== 'D').map(({ key }) => `${key}\0`)
    const input = Buffer.from(written.join(''), 'latin1')
    if (written.length > 0) await git(['checkout-index', '--force', '-z', '--stdin'], { ...index, input })
    await git(['update-ref', '-m', 'copse: work that arrived', branchRef(branch), head])
    await git(['symbolic-ref', 'HEAD', branchRef(branch)])
    // A second parent has what was staged.
    const staged = snapshot === null ? null : await git(['read-tree', `${snapshot}^2`], { accept: [0, 128] })
    if (staged?.exit_code !== 0) await git(['read-tree', head])
    await git(['update-index', '-q', '--refresh'], { accept: [0, 1] })
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

/** Removes what is gone or changes its kind, and folders that are empty then. Nothing behind a link is touched. */
async function removeFiles(worktree: string, changes: readonly ChangedPath[]): Promise<void> {
  for (const { key, status } of changes) {
    if (status !== 'D' && status !== 'T') continue
    if (await hasLinkOnTheWay(worktree, key)) continue
    const path = pathBytes(worktree, key)
    await rm(path, { force: true, recursive: true })
    for (const parent of parentsOf(key)) if (!(await removeIfEmpty(pathBytes(worktree, parent)))) break
  }
}

async function hasLinkOnTheWay(worktree: string, key: string): Promise<boolean> {
  for (const parent of parentsOf(key)) {
    if ((await orNull(lstat(pathBytes(worktree, parent))))?.isSymbolicLink() === true) return true
  }
  return false
}

async function removeIfEmpty(folder: Buffer): Promise<boolean> {
  try {
    await rmdir(folder)
    return true
  } catch {
    return false
  }
}
