import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { WorkspaceError } from '../../ports/workspace-error.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { orNull } from '../files/file-errors.ts'
import { readGit, runGit } from '../commands/run-git.ts'
import { readLog } from './head-logs.ts'

export interface StashEntry {
  readonly id: string
  readonly message: string
}

/** Reads the stash list of a repository, newest first. All worktrees share it. */
export async function readStash(cwd: string, common: string, { signal }: Cancellable): Promise<readonly StashEntry[]> {
  const isTable = (await orNull(lstat(join(common, 'reftable')))) !== null
  if (!isTable) {
    const lines = await readLog(join(common, 'logs', 'refs', 'stash'))
    return lines.map(({ to, message }) => ({ id: to, message })).reverse()
  }
  const out = await readGit(cwd, ['log', '-g', '--format=%H %gs', 'refs/stash', '--'], { signal, accept: [0, 128] })
  return out === ''
    ? []
    : out.split('\n').map((line) => ({ id: line.split(' ', 1)[0] ?? '', message: line.slice(line.indexOf(' ') + 1) }))
}

/** Returns the branch that an entry was made on; null if it was on none, or if its message doesn't tell. */
export function branchOfEntry({ message }: StashEntry): string | null {
  const branch = /^(?:WIP on|On) ([^:]+): /.exec(message)?.[1] ?? null
  return branch === '(no branch)' ? null : branch
}

/**
 * Takes an entry off the stash list. Another program may change the list at the same moment, so what was dropped is
 * looked at, and put back if it was another.
 */
export async function dropEntry(cwd: string, common: string, id: string, { signal }: Cancellable): Promise<void> {
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    const list = await readStash(cwd, common, { signal })
    const index = list.findIndex((entry) => entry.id === id)
    if (index < 0) return
    const args = ['stash', 'drop', `stash@{${index}}`]
    const { stdout } = await runGit(cwd, args, { signal, access: 'write', accept: [0, 1] })
    const dropped = /\(([0-9a-f]{40,64})\)/.exec(stdout.toString('utf8'))?.[1]
    if (dropped === id) return
    const other = list.find((entry) => entry.id === dropped)
    if (dropped === undefined) continue
    await runGit(cwd, ['stash', 'store', '-m', other?.message ?? 'restored', dropped], { signal, access: 'write' })
  }
  throw new WorkspaceError(
    'git_failed',
    'The stash list keeps changing. Wait for the other git command, then try again.',
  )
}
