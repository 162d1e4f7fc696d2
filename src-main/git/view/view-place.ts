import { lstat, readdir, readFile, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { Cancellable } from '../../ports/cancellable.ts'
import { ownRecord } from '../commands/own-worktree.ts'
import { orNull } from '../files/file-errors.ts'
import { nameInFiles } from './ref-files.ts'
import { readPlain } from '../files/plain-file.ts'

/** A linked worktree whose runs can have a view. */
export interface ViewPlace {
  readonly worktree: string
  /** The common git folder. */
  readonly common: string
  /** The worktree's folder in it, which its runs write as without containment. */
  readonly record: string
  /** The ref of the worktree's own branch, with its name as in git's files; null for a worktree without one. */
  readonly own: string | null
}

/** Finds the git folders of a linked worktree; null for other folders, and where refs are no files. */
export async function findViewPlace(
  worktree: string,
  branch: string | undefined,
  { signal }: Cancellable,
): Promise<ViewPlace | null> {
  const found = await ownRecord(worktree, { signal })
  const back = found === null ? null : await orNull(readFile(join(found, 'commondir'), 'utf8'))
  if (found === null || back === null) return null
  const [record, common] = await Promise.all([realpath(found), realpath(resolve(found, back.trim()))])
  if (dirname(dirname(record)) !== common || (await orNull(lstat(join(common, 'reftable')))) !== null) return null
  const own = branch === undefined ? await freeBranch(common, record) : nameInFiles(`refs/heads/${branch}`)
  return { worktree, common, record, own }
}

/** Returns the branch that a worktree is on, unless another one is on it too. */
async function freeBranch(common: string, record: string): Promise<string | null> {
  const own = await branchOf(record)
  const names = (await orNull(readdir(join(common, 'worktrees')))) ?? []
  const others = [
    common,
    ...names.filter((name) => name !== basename(record)).map((name) => join(common, 'worktrees', name)),
  ]
  for (const other of others) if (own !== null && (await branchOf(other)) === own) return null
  return own
}

/** Returns the ref that a git folder's HEAD names; null if it is detached. */
export async function branchOf(folder: string): Promise<string | null> {
  const head = (await readPlain(join(folder, 'HEAD'), 'latin1')) ?? ''
  return /^ref: *(refs\/heads\/[^\0- ]+)[\n\r\t ]*$/.exec(head)?.[1] ?? null
}
