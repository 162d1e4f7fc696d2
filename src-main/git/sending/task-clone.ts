import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Cancellable } from '../../ports/cancellable.ts'
import { resolveCommit, resolveTree } from '../commands/branch.ts'
import { runGit } from '../commands/run-git.ts'
import { orNull } from '../files/file-errors.ts'
import { removeGitLocks } from '../worktree/left-git-locks.ts'
import { bringWorktree, type WorktreeState } from './bring-worktree.ts'
import { makeSnapshot } from './make-snapshot.ts'
import type { PushTarget } from './push-work.ts'

/** A clone of a task's repository on another machine, with its worktrees. */
export interface TaskClone {
  /** The bare repository. */
  readonly repository: string
  /** The task's worktree; it may not exist yet. */
  readonly worktree: string
  /** Objects of snapshots, which the repository doesn't get. */
  readonly objects: string
}

export const taskClone = (folder: string): TaskClone => ({
  repository: join(folder, 'repository.git'),
  worktree: join(folder, 'worktree'),
  objects: join(folder, 'objects'),
})

/** Refs of the service, as they were at the last fetch. */
const prefix = 'refs/svc/from/'

/** Makes the clone, or brings it up to date. The token is in no file. */
export async function fetchTask(
  { repository, objects }: TaskClone,
  remote: PushTarget & { readonly user: { readonly name: string; readonly email: string } | null },
  { signal }: Cancellable,
): Promise<void> {
  await mkdir(objects, { recursive: true, mode: 0o700 })
  // A run that was killed may have left some, which would stop every later one.
  await removeGitLocks(repository)
  if ((await orNull(stat(join(repository, 'HEAD')))) === null) {
    await mkdir(repository, { recursive: true, mode: 0o700 })
    await runGit(repository, ['init', '--quiet', '--bare', '.'], { signal, access: 'write' })
  }
  const { user } = remote
  for (const [key, value] of user === null ? [] : Object.entries(user)) {
    const known = await runGit(repository, ['config', '--get', `user.${key}`], { signal, accept: [0, 1] })
    if (known.exit_code === 1) await runGit(repository, ['config', `user.${key}`, value], { signal, access: 'write' })
  }
  await runGit(
    repository,
    ['fetch', '--quiet', '--prune', '--no-tags', '--no-auto-maintenance', '--', remote.url, `+refs/*:${prefix}*`],
    {
      signal,
      access: 'write',
      settings: [
        [`http.${remote.url}.extraHeader`, `Authorization: Bearer ${remote.token}`],
        ['http.followRedirects', 'false'],
        ['credential.helper', ''],
        ['protocol.version', '0'],
        ['gc.auto', '0'],
      ],
    },
  )
}

/** Brings a worktree of the clone to a state, making it where it is missing; returns whether it was made. */
export async function placeWorktree(
  { repository, worktree }: TaskClone,
  state: Omit<WorktreeState, 'objects'>,
  { signal }: Cancellable,
): Promise<boolean> {
  const isNew = !(await hasWorktree(worktree, { signal }))
  if (isNew) {
    // What a runner that was killed had not finished; should it have files after all, they stay beside.
    const aside = `${worktree}.aside`
    await rm(aside, { recursive: true, force: true })
    await orNull(rename(worktree, aside))
    await runGit(repository, ['worktree', 'prune'], { signal, access: 'write' })
    const add = ['worktree', 'add', '--quiet', '--force', '--detach', worktree, state.head]
    await runGit(repository, add, { signal, access: 'write' })
  }
  await bringWorktree(worktree, { ...state, objects: [] }, { signal })
  return isNew
}

/** Returns whether there is a worktree that git knows; one that a killed runner was making may be none. */
async function hasWorktree(worktree: string, { signal }: Cancellable): Promise<boolean> {
  if ((await orNull(stat(join(worktree, '.git')))) === null) return false
  return (await runGit(worktree, ['rev-parse', '--git-dir'], { signal, accept: [0, 128] })).exit_code === 0
}

/** Returns whether the task's worktree is missing, or has exactly what a commit has, HEAD included. */
export async function isAt(
  { worktree, objects }: TaskClone,
  commit: string,
  { signal }: Cancellable,
): Promise<boolean> {
  if (!(await hasWorktree(worktree, { signal }))) return true
  const there = await makeSnapshot(worktree, {
    signal,
    max_file_bytes: Number.MAX_SAFE_INTEGER,
    objects,
    previous: null,
  })
  if (there === null) return true
  const tree = await resolveTree(worktree, commit, { signal })
  const isAhead = (await resolveCommit(worktree, `${commit}^`, { signal })) !== there.head && commit !== there.head
  return tree === there.tree && !isAhead
}

/**
 * Returns all of a task's work that is there, ignored files apart, as a text that another look finds again as long as
 * nothing has changed; null if it can't be told.
 */
export async function describeWork({ repository, worktree, objects }: TaskClone, { signal }: Cancellable) {
  const isThere = await hasWorktree(worktree, { signal })
  const max_file_bytes = Number.MAX_SAFE_INTEGER
  const found = isThere ? await makeSnapshot(worktree, { signal, max_file_bytes, objects, previous: null }) : null
  if (isThere && found?.complete !== true) return null
  const refs = await runGit(repository, ['for-each-ref', '--format=%(objectname) %(refname)'], { signal })
  return [found?.head, found?.tree, found?.staged, refs.stdout].join('\n')
}
