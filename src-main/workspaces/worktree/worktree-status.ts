import type { Cancellable } from '../../engine/ports/cancellable.ts'
import { WorkspaceError, type BranchRef, type WorktreeStatus } from '../../engine/ports/workspaces.ts'
import { resolveBase, resolveCommit } from '../git/branch.ts'
import { peekBranch, peekHead } from '../git/peek.ts'
import { countAheadBehind, isDirty } from '../git/status.ts'

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
