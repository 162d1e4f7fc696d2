import { lstat } from 'node:fs/promises'
import type { KeyedLock } from '../../platform/locks/keyed-lock.ts'
import { WorkspaceError } from '../../ports/workspace-error.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { orNull } from '../files/file-errors.ts'
import { runGit, splitNul } from '../commands/run-git.ts'
import { allButCopies, findCopies } from '../commands/copied-files.ts'
import { excludeLockFile } from '../commands/status.ts'
import { commonDir } from '../commands/worktree.ts'
import { rescueUnreachable } from '../rescue/unreachable-commits.ts'
import { requireOwn } from '../commands/own-worktree.ts'
import { removeEmptyFolders } from '../files/remove-empty-folders.ts'
import { withRescue, type RescueOptions } from '../rescue/rescue.ts'

export interface ResetOptions extends Cancellable {
  readonly now: () => number
  readonly repositories: KeyedLock
}

/**
 * Does what `git reset --hard HEAD` and `git clean -fd` do in a worktree, after saving uncommitted work; returns the
 * rescue ref, null if there was nothing (or no worktree). Commits, ignored files, the lock and nested repositories
 * stay. Fails if files change during it or can't be saved.
 */
export async function resetWorktree(path: string, task: string, options: ResetOptions): Promise<string | null> {
  const { signal, repositories } = options
  if ((await orNull(lstat(path))) === null) return null
  const record = await requireOwn(path, { signal })
  const keep: RescueOptions = { ...options, reason: 'reset' }
  return await repositories.run(await commonDir(path, { signal }), async () => {
    const look = { ...keep, git_dir: record, nested: 'leave' } as const
    const ref = await withRescue(path, task, look, async ({ ref, readable, kept }, env) => {
      if (!readable) throw unreadable(path)
      signal.throwIfAborted()
      await putBack(path, record, { from: kept.tree, to: kept.committed, env, signal })
      return ref
    })
    // An aborted merge may be of a commit that no ref leads to.
    const loose = await rescueUnreachable(path, record, task, keep)
    await runGit(path, [...place(path, record), 'reset', '--quiet'], { signal, access: 'write' })
    await refuseLeft(path, record, { signal })
    await removeEmptyFolders(path, await untrackedFolders(path, record, { signal }))
    return ref ?? loose
  })
}

const place = (path: string, record: string) => ['--git-dir', record, '--work-tree', path]

/**
 * Restores the files by the snapshot's index, so that git touches none of them if one has changed since it was saved.
 */
async function putBack(
  path: string,
  record: string,
  { from, to, env, signal }: Cancellable & { from: string; to: string; env: Readonly<Record<string, string>> },
): Promise<void> {
  if (from === to) return
  // Submodules' own changes are in no rescue, so they stay, whatever the configuration says.
  const args = ['-c', 'submodule.recurse=false', 'read-tree', '-m', '-u', from, to]
  const options = { signal, env, access: 'write', accept: [0, 128] } as const
  const { exit_code, stderr } = await runGit(path, [...place(path, record), ...args], options)
  if (exit_code === 0) return
  throw new WorkspaceError(
    'git_failed',
    `${path} could not be reset. Your uncommitted changes are kept and still there. git says: ${stderr.trim()}`,
  )
}

/** Refuses if files appeared or changed since they were saved, or could not be removed. */
async function refuseLeft(path: string, record: string, { signal }: Cancellable): Promise<void> {
  const copies = allButCopies(await findCopies(path, { signal, git_dir: record }))
  const changed = ['--modified', '--deleted', '--others', '--exclude-standard']
  const list = ['ls-files', '-z', ...changed, '--', ...excludeLockFile, ...copies]
  const { stdout } = await runGit(path, [...place(path, record), ...list], { signal })
  // Nested repositories end in a slash, submodules are listed as changed.
  const left = splitNul(stdout).filter((name) => !name.endsWith('/'))
  const files: string[] = []
  for (const name of new Set(left)) {
    if ((await orNull(lstat(`${path}/${name}`)))?.isDirectory() !== true) files.push(name)
  }
  if (files.length === 0) return
  throw new WorkspaceError(
    'git_failed',
    `${files.slice(0, 10).join(', ')} in ${path} changed while it was being reset, or can't be changed. ` +
      'The uncommitted changes are kept. Stop the program that is writing there, then reset again.',
  )
}

async function untrackedFolders(path: string, record: string, { signal }: Cancellable): Promise<readonly string[]> {
  const list = ['ls-files', '-z', '--others', '--exclude-standard', '--directory', '--', ...excludeLockFile]
  const { stdout } = await runGit(path, [...place(path, record), ...list], { signal })
  return splitNul(stdout).filter((name) => name.endsWith('/'))
}

function unreadable(path: string): WorkspaceError {
  return new WorkspaceError(
    'git_failed',
    `Some files in ${path} can't be read, so they could not be kept. ` + 'Move them away and reset again.',
  )
}
