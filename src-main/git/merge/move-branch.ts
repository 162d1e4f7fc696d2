import { randomUUID } from 'node:crypto'
import { WorkspaceError } from '../../ports/workspace-error.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { follow, lockCheckout, type CheckoutLock } from './checkout-lock.ts'
import { ownObjects } from '../commands/own-objects.ts'
import { swapBranch } from '../commands/refs.ts'
import { changedPaths, type ChangedPath } from '../commands/tree-paths.ts'
import { notePendingMove } from './pending-move.ts'
import { restoreFiles } from './restore-files.ts'
import { isLikelyClear, overwrittenPaths } from './target-checkout.ts'

export interface BranchMove {
  readonly repo: string
  readonly branch: string
  readonly from: string
  readonly to: string
  /** For the reflog. */
  readonly reason: string
  /** The differences between the two commits. */
  readonly changes: readonly ChangedPath[]
  /** The worktrees that have the branch checked out. */
  readonly checkouts: readonly string[]
  /** Checkouts in which nothing tracked is in the way while their index is in this state (`readCheckouts`). */
  readonly untouched?: ReadonlyMap<string, string>
  /** Called when the branch has moved and files begin to follow. */
  readonly onFollow?: () => void
}

export type MovedBranch =
  | { readonly kind: 'moved' }
  /** Something of the user's is in the way; nothing has changed. */
  | { readonly kind: 'dirty'; readonly files: readonly string[] }
  /** The branch no longer points at `from`, or could not be moved; nothing has changed. `why` is git's message. */
  | { readonly kind: 'not_moved'; readonly why: string }

/**
 * Moves a branch by compare-and-swap, and the checkouts that have it follow. The order is: save a note of the move,
 * lock the checkouts' indexes, try the move (unless it is known that nothing is in the way), move the branch, let the
 * files follow. With files first, a crash would leave changes without an author. With the branch first, a failure
 * leaves files that are merely behind: it is undone at once (the branch moves back), and after a crash the next start
 * or the next merge finishes it by the note. No file of the user is ever overwritten that git does not have (invariant
 * I5). After its first step it can't be interrupted: it has either not started or is complete.
 */
export async function moveBranch(move: BranchMove): Promise<MovedBranch> {
  const { checkouts, changes } = move
  const { signal } = new AbortController()
  await ownObjects(move.repo, move, { signal })
  const moved = await moveNoted(move, 'look', { signal })
  if (moved !== 'unclear') return moved
  const files = await overwrittenPaths(checkouts, changes, { signal })
  if (files.length > 0) return { kind: 'dirty', files }
  const again = await moveNoted(move, 'looked', { signal })
  return again === 'unclear' ? { kind: 'dirty', files: await unfollowable(move, { signal }) } : again
}

async function moveNoted(
  move: BranchMove,
  look: 'look' | 'looked',
  { signal }: Cancellable,
): Promise<MovedBranch | 'unclear'> {
  const token = randomUUID()
  const looked = look === 'look' ? isClear(move) : Promise.resolve(true)
  // Prevents an unhandled rejection if the note or a lock fails first.
  looked.catch(() => undefined)
  const pending = await notePendingMove({ ...move, token }, { signal })
  let isStuck = false
  try {
    const moved = await moveLocked(move, token, looked, { signal })
    if (typeof moved === 'object' && moved.kind === 'stuck') {
      isStuck = true
      throw stuck(move, moved)
    }
    if (moved !== 'dirty') return moved
  } finally {
    // While the note exists, the next access to the repository finishes what could not be undone.
    if (!isStuck) await pending.forget()
  }
  return { kind: 'dirty', files: await unfollowable(move, { signal }) }
}

/** The branch has moved, a checkout could not follow, and the branch could not be moved back. */
interface StuckMove {
  readonly kind: 'stuck'
  readonly checkout: string
  readonly why: string
}

/** What status has told of a checkout leaves only the added files to look for. */
async function isClear({ checkouts, changes, untouched }: BranchMove): Promise<boolean> {
  const added = changes.filter(({ status }) => status === 'A')
  const looks = checkouts.map((checkout) => isLikelyClear(checkout, untouched?.has(checkout) ? added : changes))
  return !(await Promise.all(looks)).includes(false)
}

async function moveLocked(
  move: BranchMove,
  token: string,
  looked: Promise<boolean>,
  { signal }: Cancellable,
): Promise<Exclude<MovedBranch, { kind: 'dirty' }> | StuckMove | 'dirty' | 'unclear'> {
  const { repo, branch, from, to, reason, checkouts, changes, untouched } = move
  await using stack = new AsyncDisposableStack()
  const locks: CheckoutLock[] = []
  for (const checkout of checkouts) locks.push(stack.use(await lockCheckout(checkout, token)))
  const unsure = locks.filter(({ checkout, state }) => untouched?.get(checkout) !== state)
  const trials = unsure.map((lock) => follow(lock, from, to, { signal, dryRun: true }))
  // The index has changed since status looked.
  const again = unsure.filter(({ checkout }) => untouched?.has(checkout))
  const looks = [looked, ...again.map(({ checkout }) => isLikelyClear(checkout, changes))]
  const [clear, fits] = await Promise.all([Promise.all(looks), Promise.all(trials)])
  if (clear.includes(false)) return 'unclear'
  if (fits.includes(false)) return 'dirty'
  const where = checkouts[0] ?? repo
  const why = await swapBranch(where, branch, { to, from, reason }, { signal })
  if (why !== null) return { kind: 'not_moved', why }
  for (const [index, lock] of locks.entries()) {
    const following = followAndInstall(lock, from, to, { signal })
    if (index === 0) move.onFollow?.()
    if (await following) continue
    const left = await rollBack(move, where, { failed: lock, followed: locks.slice(0, index) }, { signal })
    return left === null ? 'dirty' : { kind: 'stuck', checkout: lock.checkout, why: left }
  }
  return { kind: 'moved' }
}

async function followAndInstall(lock: CheckoutLock, from: string, to: string, options: Cancellable): Promise<boolean> {
  if (!(await follow(lock, from, to, options))) return false
  await lock.install()
  return true
}

/**
 * A file changed since the trial, or could not be written: undoes the written files, then the branch. On a full disk,
 * the one makes room for the other. Returns why the branch could not move back, null when it did.
 */
async function rollBack(
  { branch, from, to, reason, changes }: BranchMove,
  where: string,
  { failed, followed }: { readonly failed: CheckoutLock; readonly followed: readonly CheckoutLock[] },
  { signal }: Cancellable,
): Promise<string | null> {
  await restoreFiles(failed, changes, { signal })
  const back = { to: from, from: to, reason: `take back ${reason}` }
  const why = await swapBranch(where, branch, back, { signal })
  if (why !== null) return why
  for (const lock of followed) {
    await lock.reload()
    await followAndInstall(lock, to, from, { signal })
  }
  return null
}

const stuck = ({ branch }: BranchMove, { checkout, why }: StuckMove): WorkspaceError =>
  new WorkspaceError(
    'git_failed',
    `The files of ${checkout} could not follow ${branch}, and it could not be moved back (${why}). ` +
      'Nothing is lost. See that the disk has room and the folder can be written to, then try again.',
  )

/** Returns why the files could not follow: the paths that are in the way, or else git's error. */
async function unfollowable(move: BranchMove, { signal }: Cancellable): Promise<readonly string[]> {
  const { repo, from, to, checkouts } = move
  const files = await overwrittenPaths(checkouts, await changedPaths(repo, from, to, { signal }), { signal })
  if (files.length > 0) return files
  throw new WorkspaceError(
    'git_failed',
    `git could not update the files of ${checkouts.join(', ')}; they are as they were. ` +
      'See that the disk has room and the folder can be written to, then try again.',
  )
}
