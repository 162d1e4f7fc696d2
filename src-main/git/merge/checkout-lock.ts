import { open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { WorkspaceError } from '../../ports/workspace-error.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { isTaken, orNull } from '../files/file-errors.ts'
import { fileState } from '../files/file-state.ts'
import { runGit } from '../commands/run-git.ts'
import { copyIndex } from '../commands/own-index.ts'
import { readGitLink } from '../commands/git-link.ts'

const patienceMs = 2_000
const lookEveryMs = 25

/** A checkout whose index no other process can change: git commands work on a copy until that is installed. */
export interface CheckoutLock extends AsyncDisposable {
  readonly checkout: string
  /** The `indexState` at the time of the lock. */
  readonly state: string
  /** Environment in which git works on the copy. */
  readonly env: { readonly GIT_INDEX_FILE: string }
  /** Makes the copy the checkout's index. */
  install(): Promise<void>
  /** Makes a new copy after `install`. */
  reload(): Promise<void>
}

/**
 * Takes the lock with which git commands exclude each other in a checkout; waits for a short one to end. Without it, a
 * commit of the user between the moves of branch and files would revert what the move brought. `token` identifies our
 * lock if a crash leaves it behind.
 */
export async function lockCheckout(checkout: string, token: string): Promise<CheckoutLock> {
  const { index, lock, copy } = await filesOf(checkout, token)
  await take(checkout, lock, token)
  const release = async (): Promise<void> => {
    for (const file of [copy, `${copy}.lock`, lock]) await rm(file, { force: true })
  }
  try {
    const state = await indexState(checkout)
    await copyIndex(index, copy)
    return {
      checkout,
      state,
      env: { GIT_INDEX_FILE: copy },
      install: () => rename(copy, index),
      reload: () => copyIndex(index, copy),
      [Symbol.asyncDispose]: release,
    }
  } catch (error) {
    await release()
    throw error
  }
}

/** Returns a value that changes whenever git rewrites the checkout's index, which it does by renaming a new file. */
export async function indexState(checkout: string): Promise<string> {
  return await fileState((await filesOf(checkout, '')).index)
}

/** Removes a lock that a crash left in a checkout, if it has this token. */
export async function releaseLeftLock(checkout: string, token: string): Promise<void> {
  const { lock, copy } = await filesOf(checkout, token)
  for (const file of [copy, `${copy}.lock`]) await rm(file, { force: true })
  if ((await orNull(readFile(lock, 'utf8'))) === token) await rm(lock, { force: true })
}

/**
 * Updates index and files from one commit to another; nothing else in the checkout changes. Git refuses completely,
 * before it writes anything, if a file that would change differs from `from`. Returns whether it was done; harmless
 * if repeated.
 */
export async function follow(
  { checkout, env }: CheckoutLock,
  from: string,
  to: string,
  { signal, dryRun = false }: Cancellable & { readonly dryRun?: boolean },
): Promise<boolean> {
  const accept = [0, 1, 128]
  const args = ['read-tree', '-m', '-u', ...(dryRun ? ['-n'] : []), from, to]
  const isDone = async () => (await runGit(checkout, args, { signal, env, access: 'write', accept })).exit_code === 0
  if (await isDone()) return true
  // Git considers a touched file changed until it has compared the content.
  await runGit(checkout, ['update-index', '-q', '--refresh'], { signal, env, access: 'write', accept })
  return await isDone()
}

async function filesOf(checkout: string, token: string) {
  const folder = (await readGitLink(checkout)) ?? join(checkout, '.git')
  return { index: join(folder, 'index'), lock: join(folder, 'index.lock'), copy: join(folder, `svc-index-${token}`) }
}

async function take(checkout: string, lock: string, token: string): Promise<void> {
  const deadline = Date.now() + patienceMs
  while (!(await create(lock, token))) {
    if (Date.now() >= deadline) {
      throw new WorkspaceError(
        'git_failed',
        `Another git command is running in ${checkout} (${lock} exists). Try again when it has finished; ` +
          'if none is running, delete that file.',
      )
    }
    // The release of another program's lock causes no event, so poll.
    await setTimeout(lookEveryMs)
  }
}

async function create(lock: string, token: string): Promise<boolean> {
  try {
    await using handle = await open(lock, 'wx', 0o600)
    await handle.writeFile(token)
    return true
  } catch (error) {
    if (isTaken(error)) return false
    throw error
  }
}
