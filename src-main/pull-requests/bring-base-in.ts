import { isRefusal } from '../domain/refusal.ts'
import type { IntegrationRecord } from '../ports/issue-trackers.ts'
import type { PullRequestRecord } from '../ports/pull-request-queries.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { followBase } from './follow-merge.ts'
import { openPull } from './open-pull.ts'
import type { PullRequestDeps } from './pull-request-ground.ts'

/**
 * Merges the target of a pull request that conflicts with it into the task's branch: what git can't merge goes to the
 * coder, the rest is pushed. Returns false where the base branch here can't follow the target, or the branch is held.
 */
export async function bringBaseIn(
  deps: PullRequestDeps,
  connection: IntegrationRecord,
  record: PullRequestRecord,
  task: TaskRecord,
  signal: AbortSignal,
): Promise<boolean> {
  const { context, worktrees, branches } = deps
  const { id: task_id } = task
  const workspace = worktrees.of(task)
  // The branch of a stacked task follows the one below.
  if (!workspace || workspace.stack !== null || workspace.base_branch !== record.target) return false
  const why = await followBase(deps, connection, record, task, signal)
  if (why !== '') {
    context.log.info({ task_id, why }, 'a conflict is not merged here')
    return false
  }
  const by = { type: 'operator' } as const
  const request = { task_id, by, triggered_by: 'system', strategy: 'merge', base_branch: null } as const
  const updated = await branches.update({ ...request, on_conflict: 'agent' }, signal)
  if (isRefusal(updated)) {
    context.log.info({ task_id, refusal: updated }, 'a branch could not be updated')
    return false
  }
  if (updated.outcome === 'agent') return true
  const opened = await openPull(deps, task_id, { draft: null, title: null, body: null }, 'system', signal)
  return !isRefusal(opened)
}
