import { lstat, readFile, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { Cancellable } from '../../ports/cancellable.ts'
import { WorkspaceError } from '../../ports/workspace-error.ts'
import { orNull } from '../files/file-errors.ts'
import { readConfig, runGit } from './run-git.ts'
import { readGitLink } from './git-link.ts'
import { resolveParent } from '../files/path-guard.ts'

/**
 * Returns the folder with the repository's record of the worktree at `path`. Null for any other folder, a symlink, and
 * a worktree whose `.git` file points to another record or whose files are configured to be elsewhere: an agent can
 * write both, and git would then work on files outside the task.
 */
export async function ownRecord(path: string, { signal }: Cancellable): Promise<string | null> {
  const found = await findOwnRecord(path)
  if (found === null) return null
  const { record, place } = found
  if (!(await mayLeadElsewhere(record))) return record
  const top = await runGit(place, ['rev-parse', '--path-format=absolute', '--show-toplevel'], {
    signal,
    accept: [0, 128],
  })
  const shown = top.exit_code === 0 ? top.stdout.toString('utf8').replace(/\n$/, '') : null
  return shown !== null && (await orNull(realpath(shown))) === (await realpath(place)) ? record : null
}

/** Finds the record by the links between it and the worktree alone. */
async function findOwnRecord(path: string): Promise<{ readonly record: string; readonly place: string } | null> {
  const place = await resolveParent(path)
  if ((await orNull(lstat(place)))?.isDirectory() !== true) return null
  const record = await readGitLink(place)
  if (record === null || basename(dirname(record)) !== 'worktrees') return null
  const back = await orNull(readFile(join(record, 'gitdir'), 'utf8'))
  if (back === null || (await resolveParent(dirname(resolve(record, back.trim())))) !== place) return null
  return { record, place }
}

/** Returns whether git must be asked where a worktree's files are: only these two files could name another folder. */
async function mayLeadElsewhere(record: string): Promise<boolean> {
  if ((await orNull(lstat(join(record, 'config.worktree')))) !== null) return true
  // With this extension `core.worktree` and `core.bare` of the shared file apply to every worktree.
  const shared = await orNull(readFile(join(dirname(dirname(record)), 'config'), 'utf8'))
  return shared !== null && /worktreeconfig/i.test(shared)
}

/**
 * Tells git that the files of this worktree are in its own folder, where the shared configuration names another one (a
 * submodule as project, for example). Writes only to the worktree's own configuration. Without a need, does nothing.
 */
export async function keepFilesHere(path: string, { signal }: Cancellable): Promise<void> {
  const found = await findOwnRecord(path)
  if (found === null || !(await mayLeadElsewhere(found.record))) return
  const common = dirname(dirname(found.record))
  const shared = (await readConfig({ git_dir: common, common }, { signal })).filter(({ scope }) => scope === 'local')
  const valueOf = (name: string) => shared.findLast(({ key }) => key === name)?.value
  const leadsElsewhere = valueOf('core.worktree') !== undefined || isTrue(valueOf('core.bare'))
  if (!leadsElsewhere || !isTrue(valueOf('extensions.worktreeconfig'))) return
  const file = ['config', '--file', join(found.record, 'config.worktree')]
  for (const [key, value] of [
    ['core.worktree', found.place],
    ['core.bare', 'false'],
  ] as const) {
    await runGit(common, [...file, key, value], { signal, access: 'write' })
  }
}

const isTrue = (value: string | undefined): boolean => value !== undefined && /^(?:true|yes|on|[1-9]\d*)$/i.test(value)

/** Returns the record that the `.git` file of a worktree leads to, if that record leads back; reads files only. */
export async function linkedRecord(path: string): Promise<string | null> {
  return (await findOwnRecord(path))?.record ?? null
}

/**
 * Returns the record of a task's worktree; null if its folder is gone. Refuses a folder whose `.git` file is gone or
 * leads elsewhere: its files are there, but git would show others, or none.
 */
export async function requireLink(path: string): Promise<string | null> {
  if ((await orNull(lstat(path))) === null) return null
  const record = await linkedRecord(path)
  if (record !== null) return record
  throw new WorkspaceError(
    'outside_worktree',
    `The .git file of ${path} is gone or leads elsewhere, so git can't show its work. The files are still there. ` +
      'Submit the task to take them, or reset the workspace: it is made again with what is left.',
  )
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
