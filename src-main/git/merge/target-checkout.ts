import type { Stats } from 'node:fs'
import { lstat, stat } from 'node:fs/promises'
import type { Cancellable } from '../../ports/cancellable.ts'
import { WorkspaceError } from '../../ports/workspace-error.ts'
import type { BranchRef } from '../../ports/branch-ref.ts'
import type { HiddenChange } from '../../ports/target-mover.ts'
import { indexState } from './checkout-lock.ts'
import { orNull } from '../files/file-errors.ts'
import { listHidden } from '../commands/flagged-files.ts'
import { actualBranch } from '../commands/refs.ts'
import { runGit } from '../commands/run-git.ts'
import { readStatus, type ChangedPaths } from '../commands/status.ts'
import { isBeingRebased } from '../commands/unfinished.ts'
import { parentsOf, pathBytes, pathText, type ChangedPath } from '../commands/tree-paths.ts'
import { listWorktrees, type ListedWorktree } from '../commands/worktree.ts'

/** Returns the existing worktrees (also the user's checkout) that have a branch checked out. */
export async function checkoutsOf(repo: string, branch: string, { signal }: Cancellable): Promise<readonly string[]> {
  return await presentOn(await listWorktrees(repo, { signal }), branch)
}

/**
 * Returns the checkouts that follow when a branch moves. Throws while the branch is being rebased in a worktree: git
 * will not put the result on a branch that has moved since.
 */
export async function checkoutsToUpdate(
  repo: string,
  branch: string,
  { signal }: Cancellable,
): Promise<readonly string[]> {
  const worktrees = await listWorktrees(repo, { signal })
  for (const { path, bare, branch: current } of worktrees) {
    if (bare || current !== null || !(await isBeingRebased(path, branch))) continue
    throw new WorkspaceError(
      'unfinished_merge',
      `${branch} is being rebased in ${path}. Finish that there (git rebase --continue) or give it up (git rebase --abort), then try again.`,
    )
  }
  return await presentOn(worktrees, branch)
}

async function presentOn(worktrees: readonly ListedWorktree[], branch: string): Promise<readonly string[]> {
  const checkouts: string[] = []
  for (const worktree of worktrees) {
    if (worktree.bare || worktree.branch !== branch) continue
    if ((await orNull(stat(worktree.path))) !== null) checkouts.push(worktree.path)
  }
  return checkouts
}

/**
 * Returns the paths of checkouts in which following the branch would lose something: changed both there (staged or
 * not) and by the move, or untracked there, ignored or not, where the move writes a file.
 */
export async function overwrittenPaths(
  checkouts: readonly string[],
  moves: readonly ChangedPath[],
  { signal }: Cancellable,
): Promise<readonly string[]> {
  const found = new Set<string>()
  if (moves.length === 0) return []
  for (const checkout of checkouts) {
    for (const path of await changesInTheWay(checkout, moves, { signal })) found.add(path)
    for (const key of await untrackedInTheWay(checkout, moves, { signal })) found.add(pathText(key))
  }
  return [...found].sort()
}

/** The changes in a checkout, and the state of its index when they were read. */
export interface CheckoutStatus {
  readonly checkout: string
  readonly state: string
  readonly status: ChangedPaths
}

/** Reads the checkouts before it is known what a move changes. */
export async function readCheckouts(
  checkouts: readonly string[],
  { signal }: Cancellable,
): Promise<readonly CheckoutStatus[]> {
  return await Promise.all(
    checkouts.map(async (checkout) => {
      const state = await indexState(checkout)
      return { checkout, state, status: await readTracked(checkout, { signal }) }
    }),
  )
}

/** Returns whether no tracked file is changed both in the checkout and by the move. */
export const hasNoOverlap = ({ status }: CheckoutStatus, moves: readonly ChangedPath[]): boolean =>
  hitBy(status, moves).length === 0

/**
 * Returns whether the move adds no existing file and changes no missing one. Git itself detects different contents,
 * but not these cases.
 */
export async function isLikelyClear(checkout: string, moves: readonly ChangedPath[]): Promise<boolean> {
  const parents = new Set(moves.flatMap(({ key, status }) => (status === 'A' ? parentsOf(key) : [])))
  const checks = [
    ...[...parents].map((key) => async () => (await entryAt(checkout, key))?.isDirectory() !== false),
    ...moves.map(
      ({ key, status }) =>
        async () =>
          ((await entryAt(checkout, key)) === null) === (status === 'A'),
    ),
  ]
  for (let at = 0; at < checks.length; at += 64) {
    const looks = await Promise.all(checks.slice(at, at + 64).map((check) => check()))
    if (looks.includes(false)) return false
  }
  return true
}

async function changesInTheWay(
  checkout: string,
  moves: readonly ChangedPath[],
  { signal }: Cancellable,
): Promise<readonly string[]> {
  return hitBy(await readTracked(checkout, { signal }), moves)
}

/** Reads the tracked changes, those too that a flag hides from git's own status. */
async function readTracked(checkout: string, { signal }: Cancellable): Promise<ChangedPaths> {
  const [status, hidden] = await Promise.all([
    readStatus(checkout, { signal, untracked: 'no' }),
    listHidden(checkout, { signal }),
  ])
  return { ...status, changed: [...new Set([...status.changed, ...hidden.map(({ path }) => path)])] }
}

/** Returns which of these changes in a branch's checkouts a flag hides from git. */
export async function readHidden(
  { repo_path: repo, base_branch }: Pick<BranchRef, 'repo_path' | 'base_branch'>,
  files: readonly string[],
  { signal }: Cancellable,
): Promise<readonly HiddenChange[]> {
  const checkouts = await checkoutsOf(repo, await actualBranch(repo, base_branch, { signal }), { signal })
  const found = await Promise.all(checkouts.map((checkout) => listHidden(checkout, { signal })))
  return found.flat().filter(({ path }) => files.includes(path))
}

function hitBy({ changed, unmerged }: ChangedPaths, moves: readonly ChangedPath[]): readonly string[] {
  const moved = new Set(moves.map(({ key }) => pathText(key)))
  const aboveAdded = new Set(
    moves.flatMap(({ key, status }) => (status === 'A' ? parentsOf(key).map((parent) => pathText(parent)) : [])),
  )
  const isHit = (path: string): boolean =>
    moved.has(path) || aboveAdded.has(path) || parentsOf(path).some((parent) => moved.has(parent))
  return [...unmerged, ...changed.filter(isHit)]
}

async function untrackedInTheWay(
  checkout: string,
  moves: readonly ChangedPath[],
  { signal }: Cancellable,
): Promise<ReadonlySet<string>> {
  const removed = new Set(moves.filter(({ status }) => status === 'D').map(({ key }) => key))
  const removedAnyCase = new Map([...removed].map((key) => [key.toLowerCase(), key]))
  const found = new Set<string>()
  const blocked = new Map<string, boolean>()
  for (const { key } of moves.filter(({ status }) => status === 'A')) {
    // From the top, because files behind a symlink don't belong to the checkout.
    let isBehind = false
    for (const parent of parentsOf(key).toReversed()) {
      isBehind = blocked.get(parent) ?? (await isNoFolder(checkout, parent))
      blocked.set(parent, isBehind)
      if (!isBehind) continue
      if (!removed.has(parent)) found.add(parent)
      break
    }
    if (isBehind) continue
    const entry = await entryAt(checkout, key)
    if (entry === null) continue
    // On a case-insensitive file system, a rename from File to file finds its own old file.
    const other = removedAnyCase.get(key.toLowerCase())
    if (other !== undefined && isSame(entry, await entryAt(checkout, other))) continue
    if (!entry.isDirectory()) found.add(key)
    else for (const inside of await untrackedBelow(checkout, key, { signal })) found.add(inside)
  }
  return found
}

async function isNoFolder(checkout: string, key: string): Promise<boolean> {
  const entry = await entryAt(checkout, key)
  return entry !== null && !entry.isDirectory()
}

async function untrackedBelow(checkout: string, key: string, { signal }: Cancellable): Promise<readonly string[]> {
  const args = ['ls-files', '--others', '-z', '--', `:(literal,top)${pathText(key)}`]
  const { stdout } = await runGit(checkout, args, { signal })
  return stdout.toString('latin1').split('\0').filter(Boolean)
}

const isSame = (one: Stats, other: Stats | null): boolean => one.ino === other?.ino && one.dev === other.dev

const entryAt = (checkout: string, key: string) => orNull(lstat(pathBytes(checkout, key)))
