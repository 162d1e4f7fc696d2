import { lstat, readFile, realpath } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { KeyedLock } from '../base/keyed-lock.ts'
import { WorkspaceError } from '../engine/workspace-port.ts'
import type { Cancellable } from '../engine/ports.ts'
import { orNull } from './file-errors.ts'
import { runGit } from './git/run-git.ts'
import { commonDir, readGitLink } from './git/worktree.ts'
import { rescueUncommitted } from './rescue.ts'

export interface ResetOptions extends Cancellable {
  readonly now: () => number
  readonly repositories: KeyedLock
}

/**
 * `git reset --hard HEAD` and `git clean -fd` in a worktree, after what is uncommitted was kept: answers its
 * rescue ref, null when there was nothing (or no worktree). Commits, ignored files, the lock and repositories
 * inside the worktree stay. Refuses a path that is no worktree's root, and files that no commit could keep.
 */
export async function resetWorktree(path: string, task: string, options: ResetOptions): Promise<string | null> {
  const { signal, repositories } = options
  const entry = await orNull(lstat(path))
  if (entry === null) return null
  if (entry.isSymbolicLink() || !(await isWorktreeRoot(path))) {
    throw new WorkspaceError('outside_worktree', `${path} is not the root of a worktree; nothing was reset.`)
  }
  return await repositories.run(await commonDir(path, { signal }), async () => {
    const { ref, readable } = await rescueUncommitted(path, task, { ...options, reason: 'reset' })
    if (!readable) {
      throw new WorkspaceError(
        'git_failed',
        `Some files in ${path} can't be read, or are a repository without a commit, so they could not be kept. ` +
          'Move them away and reset again.',
      )
    }
    signal.throwIfAborted()
    // What submodules have of their own is in no rescue: it stays, whatever the configuration says.
    const reset = ['-c', 'submodule.recurse=false', 'reset', '--quiet', '--hard', 'HEAD']
    await runGit(path, reset, { signal, access: 'write' })
    await runGit(path, ['clean', '--quiet', '-fd', '--exclude=/.svc.lock'], { signal, access: 'write' })
    return ref
  })
}

/** git would take a plain folder for a part of the repository around it, and clean that. */
async function isWorktreeRoot(path: string): Promise<boolean> {
  const record = await readGitLink(path)
  if (record === null) return false
  const back = await orNull(readFile(join(record, 'gitdir'), 'utf8'))
  if (back === null) return false
  return (await orNull(realpath(dirname(resolve(record, back.trim()))))) === (await realpath(path))
}
