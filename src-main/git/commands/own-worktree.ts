import { lstat, readFile, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { Cancellable } from '../../ports/cancellable.ts'
import { WorkspaceError } from '../../ports/workspaces.ts'
import { orNull } from '../files/file-errors.ts'
import { runGit } from './run-git.ts'
import { readGitLink } from './git-link.ts'
import { resolveParent } from '../files/path-guard.ts'

/**
 * Returns the folder with the repository's record of the worktree at `path`. Null for any other folder, a symlink, and
 * a worktree whose `.git` file points to another record or whose files are configured to be elsewhere: an agent can
 * write both, and git would then work on files outside the task.
 */
export async function ownRecord(path: string, { signal }: Cancellable): Promise<string | null> {
  const place = await resolveParent(path)
  if ((await orNull(lstat(place)))?.isDirectory() !== true) return null
  const record = await readGitLink(place)
  if (record === null || basename(dirname(record)) !== 'worktrees') return null
  const back = await orNull(readFile(join(record, 'gitdir'), 'utf8'))
  if (back === null || (await resolveParent(dirname(resolve(record, back.trim())))) !== place) return null
  // Only this file could point git to other files, so git is asked only if it exists.
  if ((await orNull(lstat(join(record, 'config.worktree')))) === null) return record
  const top = await runGit(place, ['rev-parse', '--path-format=absolute', '--show-toplevel'], {
    signal,
    accept: [0, 128],
  })
  const shown = top.exit_code === 0 ? top.stdout.toString('utf8').replace(/\n$/, '') : null
  return shown !== null && (await orNull(realpath(shown))) === (await realpath(place)) ? record : null
}

/** Returns the record if git works on this worktree alone; refuses any other folder. */
export async function requireOwn(path: string, { signal }: Cancellable): Promise<string> {
  const record = await ownRecord(path, { signal })
  if (record !== null) return record
  throw new WorkspaceError(
    'outside_worktree',
    `${path} isn't the root of a worktree, or its .git file points elsewhere. Nothing was changed in it. ` +
      'Check that file, or reset the workspace.',
  )
}
