import { lstat } from 'node:fs/promises'
import type { RestoredRescue } from '../../../src-shared/contract/rescues.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { WorkspaceError } from '../../ports/workspace-error.ts'
import type { RescueName } from '../../ports/rescue-store.ts'
import { orNull } from '../files/file-errors.ts'
import { branchRef, currentBranch, moveRef, resolveCommit } from '../commands/branch.ts'
import { commitTree } from '../commands/commit.ts'
import { mergeTrees, treeOf } from '../commands/merge.ts'
import { runGit } from '../commands/run-git.ts'
import { withSnapshot, type Snapshot } from '../commands/snapshot.ts'
import { changedPaths, parentsOf, pathBytes, pathText, type ChangedPath } from '../commands/tree-paths.ts'
import { requireOwn } from '../commands/own-worktree.ts'
import { listRescues } from './rescue-list.ts'

export interface RestoreInto {
  /** The worktree; null if it must not be touched, for the reason `why_not`. */
  readonly path: string | null
  readonly why_not: 'no_worktree' | 'busy'
  readonly branch: string
}

/** Restores a rescue without overwriting anything; null if no rescue has that name. */
export async function restoreRescue(
  name: RescueName,
  into: RestoreInto,
  { signal }: Cancellable,
): Promise<RestoredRescue | null> {
  const { repo_path: repo, task_id, timestamp } = name
  const rescue = (await listRescues(repo, task_id, { signal })).find((one) => one.timestamp === timestamp)
  if (!rescue) return null
  const isForBranch = rescue.kind === 'commits' || rescue.submodule !== null
  let why: RestoredRescue['why_branch'] = isForBranch ? 'commits' : into.why_not
  if (!isForBranch && into.path !== null) {
    if (await bringBack(into.path, rescue.commit, { signal })) {
      const branch = (await currentBranch(into.path, { signal })) ?? 'HEAD'
      return { to: 'worktree', branch, path: into.path, why_branch: null }
    }
    why = 'conflicts'
  }
  return {
    to: 'branch',
    branch: await makeBranch(repo, into.branch, rescue.commit, { signal }),
    path: null,
    why_branch: why,
  }
}

/** Applies the rescue's changes to the worktree's files, as a git checkout would; returns false on a conflict. */
async function bringBack(path: string, rescue: string, { signal }: Cancellable): Promise<boolean> {
  const parent = await resolveCommit(path, `${rescue}^1`, { signal })
  if (parent === null) return false
  const git_dir = await requireOwn(path, { signal })
  return await withSnapshot(path, { signal, git_dir }, async ({ tree, staged, env, complete }) => {
    if (!complete) return false
    // With the rescue's parent as the parent of the current files, that is their merge base.
    const message = 'What is there before a rescue is brought back\n'
    const present = await commitTree(path, { tree, parents: [parent], message }, { signal })
    const merged = await mergeTrees(path, present, rescue, { signal })
    if (merged.kind === 'conflict') return false
    // Git would silently overwrite ignored files.
    if (!(await isFree(path, await changedPaths(path, tree, merged.tree, { signal }), { signal, env }))) return false
    const wasUnstaged = staged === (await headTree(path, { signal }))
    signal.throwIfAborted()
    // In the copy of the index that has all files: git refuses completely if a file is in the way or has changed.
    const args = ['-c', 'submodule.recurse=false', 'read-tree', '-m', '-u', tree, merged.tree]
    const { exit_code } = await runGit(path, args, { signal, env, access: 'write', accept: [0, 128] })
    if (exit_code !== 0) return false
    if (wasUnstaged) await stageAgain(path, { rescue, parent }, { signal })
    return true
  })
}

/** Returns whether no file unknown to the snapshot is where the changes write one. */
async function isFree(
  path: string,
  changes: readonly ChangedPath[],
  { signal, env }: Cancellable & Pick<Snapshot, 'env'>,
): Promise<boolean> {
  const removed = new Set(changes.filter(({ status }) => status === 'D').map(({ key }) => key))
  for (const { key } of changes.filter(({ status }) => status === 'A')) {
    for (const parent of parentsOf(key)) {
      const isFolder = (await orNull(lstat(pathBytes(path, parent))))?.isDirectory() ?? true
      if (!isFolder && !removed.has(parent)) return false
    }
    const entry = await orNull(lstat(pathBytes(path, key)))
    if (entry === null) continue
    if (!entry.isDirectory()) return false
    const args = ['ls-files', '--others', '-z', '--', `:(literal,top)${pathText(key)}`]
    if ((await runGit(path, args, { signal, env })).stdout.length > 0) return false
  }
  return true
}

/** Stages again what was staged, if the index is at the same commit and has no changes. */
async function stageAgain(
  path: string,
  { rescue, parent }: { readonly rescue: string; readonly parent: string },
  { signal }: Cancellable,
): Promise<void> {
  const staged = await resolveCommit(path, `${rescue}^2`, { signal })
  if (staged === null || (await resolveCommit(path, 'HEAD', { signal })) !== parent) return
  // If git refuses, the staged version stays in the rescue only.
  await runGit(path, ['read-tree', '-i', '-m', parent, staged], { signal, access: 'write', accept: [0, 128] })
}

async function headTree(path: string, { signal }: Cancellable): Promise<string | null> {
  const head = await resolveCommit(path, 'HEAD', { signal })
  return head === null ? null : await treeOf(path, head, { signal })
}

async function makeBranch(repo: string, wanted: string, commit: string, { signal }: Cancellable): Promise<string> {
  for (let number = 1; number < 100; number += 1) {
    const branch = number === 1 ? wanted : `${wanted}-${number}`
    const ref = branchRef(branch)
    if (await moveRef(repo, ref, { to: commit, from: null, reason: 'copse: restore' }, { signal })) return branch
    if ((await resolveCommit(repo, ref, { signal })) === commit) return branch
  }
  throw new WorkspaceError('git_failed', `No branch ${wanted} could be created in ${repo}. Check the branches there.`)
}
