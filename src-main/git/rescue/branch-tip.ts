import { join } from 'node:path'
import { isAncestor } from '../commands/branch.ts'
import { runGit } from '../commands/run-git.ts'
import { readGitLink } from '../commands/git-link.ts'
import { rescueIfUnreachable, type RescueOptions } from './rescue.ts'
import { readPlain } from '../files/plain-file.ts'

/** The last known tip of a worktree's branch; a ref of this worktree alone, safe from `git gc`. */
export const lastTipRef = 'refs/worktree/svc-tip'

/**
 * Records the tip of a worktree's branch. If the previous tip is no longer an ancestor (an amend, a rebase, a reset),
 * keeps it as a rescue; returns that ref, else null.
 */
export async function recordTip(
  path: string,
  tip: string,
  task: string,
  options: Omit<RescueOptions, 'reason'>,
): Promise<string | null> {
  const { signal } = options
  const record = await readGitLink(path)
  if (record === null) return null
  const text = await readPlain(join(record, lastTipRef))
  const known = /^([0-9a-f]{40,64})\n$/.exec(text ?? '')?.[1] ?? null
  if (known === tip) return null
  const isLost = known !== null && !(await isAncestor(path, known, tip, { signal }))
  const ref = isLost ? await rescueIfUnreachable(path, known, task, { ...options, reason: 'rewritten' }) : null
  await runGit(path, ['update-ref', '-m', 'copse: seen', lastTipRef, tip], { signal, access: 'write' })
  return ref
}
