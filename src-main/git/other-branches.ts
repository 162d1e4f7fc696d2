import type { Cancellable } from '../ports/cancellable.ts'
import { branchRef, isAncestor, resolveCommit } from './commands/branch.ts'
import { swapBranch } from './commands/refs.ts'
import { readGit } from './commands/run-git.ts'
import { listWorktrees } from './commands/worktree.ts'

/** Reads the commits of all branches in a worktree's repository. */
export async function readBranches(
  worktree: string,
  { signal }: Cancellable,
): Promise<Readonly<Record<string, string>>> {
  const args = ['for-each-ref', '--format=%(objectname) %(refname:lstrip=2)', 'refs/heads/']
  const lines = (await readGit(worktree, args, { signal })).split('\n').filter(Boolean)
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(' ')
      return [line.slice(at + 1), line.slice(0, at)]
    }),
  )
}

/**
 * Moves back branches that were moved onto commits made in this worktree since; returns their refs. Only a run moves
 * them there: branches that a person moved at the same time, or has checked out, stay. The commits stay on the
 * worktree's branch.
 */
export async function putBackBranches(
  worktree: string,
  before: Readonly<Record<string, string>>,
  { signal }: Cancellable,
): Promise<readonly string[]> {
  const now = await readBranches(worktree, { signal })
  const moved = Object.entries(before).filter(([branch, tip]) => now[branch] !== undefined && now[branch] !== tip)
  if (moved.length === 0) return []
  const checkedOut = new Set((await listWorktrees(worktree, { signal })).map(({ branch }) => branch))
  const head = await resolveCommit(worktree, 'HEAD', { signal })
  const put: string[] = []
  for (const [branch, to] of moved) {
    const from = now[branch] ?? ''
    if (checkedOut.has(branch) || head === null || !(await isNewHere(worktree, from, { head, before, signal })))
      continue
    const failure = await swapBranch(worktree, branch, { to, from, reason: 'copse: put back' }, { signal })
    if (failure === null) put.push(branchRef(branch))
  }
  return put
}

const maxTips = 10_000

async function isNewHere(
  worktree: string,
  commit: string,
  { head, before, signal }: Cancellable & { readonly head: string; readonly before: Readonly<Record<string, string>> },
): Promise<boolean> {
  if (!(await isAncestor(worktree, commit, head, { signal }))) return false
  const known = [...new Set(Object.values(before))].map((tip) => `^${tip}`)
  // More than fit on a command line.
  if (known.length > maxTips) return false
  return (await readGit(worktree, ['rev-list', '-1', commit, ...known, '--'], { signal })) !== ''
}
