import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { BaseMove } from '../ports/target-mover.ts'
import type { MergeRecord } from '../ports/task-queries.ts'
import type { WorkspaceRecord } from '../ports/workspace-queries.ts'
import type { Ground } from '../core/ground.ts'
import type { LandingGround } from './landing-ground.ts'

/** Records where a base branch is about to be moved from, so that the merge can be undone. */
export function noteBaseMove({ feed }: Ground, id: TaskId, base_branch: string, { from, to, head }: BaseMove): void {
  patchMerge({ feed }, id, { base_branch, from, to, head, merged_at: null, undo: null })
}

/**
 * Records that the task's work has landed. After a crash the recorded move may not have been made, and someone else may
 * have merged the branch: then there is nothing to undo. `landed`: the base's commit that has the work.
 */
export async function noteLanded(
  context: LandingGround,
  id: TaskId,
  { repo_path }: WorkspaceRecord,
  landed: string,
): Promise<void> {
  const { read } = context.store
  const merge = read.tasks.get(id)?.merge ?? null
  if (merge === null || merge.merged_at !== null) return
  const { signal } = new AbortController()
  // Mostly the move that was just made.
  const isMade =
    merge.to === landed || (await context.target.hasCommit(repo_path, merge.base_branch, merge.to, { signal }))
  const merged_at = new Date(context.clock.now()).toISOString()
  patchMerge(context, id, isMade ? { ...merge, merged_at } : null)
}

/** Saves the record without an event, because no client sees it before the task has landed. */
export function patchMerge({ feed }: Pick<Ground, 'feed'>, id: TaskId, merge: MergeRecord | null): void {
  feed.commit((tx) => {
    const task = tx.tasks.get(id)
    if (task) tx.tasks.put({ ...task, merge })
  })
}
