import type { Cancellable } from '../../ports/cancellable.ts'
import { WorkspaceError } from '../../ports/workspace-error.ts'
import type { BranchRef } from '../../ports/branch-ref.ts'
import type { WorktreeStatus } from '../../ports/worktree-store.ts'
import { resolveBase, resolveCommit } from '../commands/branch.ts'
import { peekBranch, peekHead } from '../commands/peek.ts'
import { countAheadBehind, isDirty } from '../commands/status.ts'

export async function readWorktreeStatus(
  ref: BranchRef & { readonly path: string },
  { signal }: Cancellable,
): Promise<WorktreeStatus> {
  const head = await readHead(ref.path, { signal })
  const base =
    (await peekBranch(ref.path, ref.base_branch)) ?? (await resolveBase(ref.path, ref.base_branch, { signal }))
  const isThere = base === null || base === head
  const distance = isThere ? { ahead: 0, behind: 0 } : await countAheadBehind(ref.path, base, head, { signal })
  return { dirty: await isDirty(ref.path, { signal }), ...distance, head }
}

export async function readHead(path: string, { signal }: Cancellable): Promise<string> {
  const head = (await peekHead(path))?.commit ?? (await resolveCommit(path, 'HEAD', { signal }))
  if (head === null) throw new WorkspaceError('git_failed', `The worktree ${path} has no commit to be on.`)
  return head
}
