import { lstat, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { WorkspaceError } from '../engine/ports.ts'
import type { Cancellable } from '../engine/ports.ts'
import { orNull } from './file-errors.ts'
import { treeChanges } from './git/diff.ts'
import type { TreeChange } from './git/diff.ts'
import { readGit, runGit, splitNul } from './git/run-git.ts'
import { readStatus } from './git/status.ts'
import { listWorktrees } from './git/worktree.ts'

/** The worktrees (the user's checkout among them) that have a branch checked out and exist. */
export async function checkoutsOf(repo: string, branch: string, { signal }: Cancellable): Promise<readonly string[]> {
  const checkouts: string[] = []
  for (const worktree of await listWorktrees(repo, { signal })) {
    if (worktree.bare || worktree.branch !== branch) continue
    if ((await orNull(stat(worktree.path))) !== null) checkouts.push(worktree.path)
  }
  return checkouts
}

/**
 * The paths of a checkout in which following its branch from one commit to another would lose something: changed
 * there (staged or not) and by the move, or not tracked there, ignored or not, where the move puts a file.
 */
export async function pathsInTheWay(
  checkout: string,
  from: string,
  to: string,
  { signal }: Cancellable,
): Promise<readonly string[]> {
  const moves = await treeChanges(checkout, from, to, { signal, renames: false })
  if (moves.length === 0) return []
  const { changed, unmerged } = await readStatus(checkout, { signal, untracked: 'no' })
  const moved = new Set(moves.map(({ path }) => path))
  const added = moves.filter(({ status }) => status === 'A').map(({ path }) => path)
  const aboveAdded = new Set(added.flatMap(parents))
  const inTheWay = new Set(unmerged)
  for (const path of changed) {
    if (moved.has(path) || aboveAdded.has(path) || parents(path).some((parent) => moved.has(parent))) inTheWay.add(path)
  }
  for (const path of await untrackedInTheWay(checkout, moves, added, { signal })) inTheWay.add(path)
  return [...inTheWay].sort()
}

/**
 * Makes a checkout's index and files follow its branch; nothing else in it changes. git refuses as a whole,
 * before it touches anything, when a file that would change is not as `from` has it. Whether it was done.
 * Harmless when it was done before.
 */
export async function follow(
  checkout: string,
  from: string,
  to: string,
  { signal, dryRun = false }: Cancellable & { readonly dryRun?: boolean },
): Promise<boolean> {
  const accept = [0, 1, 128]
  await runGit(checkout, ['update-index', '-q', '--refresh'], { signal, access: 'write', accept })
  const args = ['read-tree', '-m', '-u', ...(dryRun ? ['-n'] : []), from, to]
  const { exit_code } = await runGit(checkout, args, { signal, access: 'write', accept })
  return exit_code === 0
}

/** Throws when another git command is at work in the checkout. */
export async function refuseBusyCheckout(checkout: string, { signal }: Cancellable): Promise<void> {
  const lock = await readGit(checkout, ['rev-parse', '--path-format=absolute', '--git-path', 'index.lock'], { signal })
  if ((await orNull(stat(lock))) === null) return
  throw new WorkspaceError(
    'git_failed',
    `Another git command is running in ${checkout} (${lock} exists). Try again when it has finished; ` +
      'if none is running, delete that file.',
  )
}

async function untrackedInTheWay(
  checkout: string,
  moves: readonly TreeChange[],
  added: readonly string[],
  { signal }: Cancellable,
): Promise<readonly string[]> {
  const removed = new Set(moves.filter(({ status }) => status === 'D').map(({ path }) => path))
  // Where file names do not know case, a rename from File to file finds itself.
  const removedAnyCase = new Set([...removed].map((path) => path.toLowerCase()))
  const found = new Set<string>()
  const checkedParents = new Set<string>()
  for (const path of added) {
    for (const parent of parents(path)) {
      if (checkedParents.has(parent)) continue
      checkedParents.add(parent)
      const entry = await orNull(lstat(join(checkout, parent)))
      if (entry !== null && !entry.isDirectory() && !removed.has(parent)) found.add(parent)
    }
    const entry = await orNull(lstat(join(checkout, path)))
    if (entry === null || removedAnyCase.has(path.toLowerCase())) continue
    if (!entry.isDirectory()) found.add(path)
    else for (const inside of await untrackedBelow(checkout, path, { signal })) found.add(inside)
  }
  return [...found]
}

async function untrackedBelow(checkout: string, path: string, { signal }: Cancellable): Promise<readonly string[]> {
  const args = ['ls-files', '--others', '-z', '--', `:(literal,top)${path}`]
  return splitNul((await runGit(checkout, args, { signal })).stdout)
}

/** `a/b/c` → `a/b`, `a`. */
function parents(path: string): readonly string[] {
  const found: string[] = []
  for (let parent = dirname(path); parent !== '.'; parent = dirname(parent)) found.push(parent)
  return found
}
