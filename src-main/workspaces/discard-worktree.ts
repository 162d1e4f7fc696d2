import { placeOf } from './path-guard.ts'
import { commonDir } from './git/worktree.ts'
import { deleteBranch, refuseRepository, removeFolder } from './remove-worktree.ts'
import type { RemoveOptions } from './remove-worktree.ts'

export interface DiscardRequest {
  readonly repo_path: string
  readonly path: string
  readonly branch: string
  readonly base_commit: string | null
  readonly task_id: string
}

/**
 * Removes a worktree and its branch, so that the task starts from its base again. All of its work is kept
 * first; answers the rescue ref that leads to the newest of it, null when there was nothing to keep.
 */
export async function discardWorktree(given: DiscardRequest, options: RemoveOptions): Promise<string | null> {
  const { signal, repositories } = options
  const request = { ...given, path: await placeOf(given.path) }
  await refuseRepository(request)
  const common = await commonDir(request.repo_path, { signal })
  return await repositories.run(common, async () => {
    const uncommitted = await removeFolder(request, common, { ...options, reason: 'discard' })
    const committed = await deleteBranch(request, request.branch, { ...options, reason: 'discard' })
    return uncommitted ?? committed
  })
}
