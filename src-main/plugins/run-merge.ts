import { z } from 'zod'
import { checkJudged, checkSeen } from '../domain/review/judged-work.ts'
import { workspaceLocked } from '../domain/task/claim-guard.ts'
import { commitMessage, keepMessage } from '../workspaces/commit-message.ts'
import type { EngineContext } from '../core/context.ts'
import { vouchingReview } from '../transitions/review-attempts.ts'
import { settleInner } from '../workspaces/inner-repositories.ts'
import { lookAtWork } from '../workspaces/look-at-work.ts'
import { toConflictHunks } from '../workspaces/to-conflict-hunks.ts'
import { WorkspaceError, type BranchRef, type MergeResult, type Work } from '../ports/workspaces.ts'
import type { TaskRecord, WorkspaceRecord } from '../ports/store.ts'
import { toSettings } from '../core/views.ts'
import { workspaceOwner } from '../core/workspace-of.ts'
import type { PluginDefinition } from '../hooks/plugin.ts'
import type { PluginResult } from '../core/plugin-result.ts'

/** Merges the task's branch into its base, without touching anybody's checkout unless that loses nothing. */
export const runMerge: PluginDefinition = {
  name: 'run_merge',
  purpose: 'Merge the task’s branch.',
  phases: ['on_enter', 'after_enter'],
  events: [],
  options: z.strictObject({}),
  traits: ['merges'],
  create: (services) => {
    const { context, worktrees } = services
    return {
      guard: async ({ task, project, vouched, workspace, signal }) => {
        if (isInParents(context, task)) return null
        if (services.isWorktreeShared(task.id)) return workspaceLocked
        if (!workspace)
          return { code: 'review_not_ready', message: 'Nothing to merge: this task never had a worktree.' }
        const judged = vouchingReview(context.store.read, task)
        // At a gate this was settled before anything was judged.
        const undecided =
          judged === null ? await settleInner(context, task, project, await worktrees.ref(workspace), signal) : null
        if (undecided !== null) {
          return { code: 'review_not_ready', message: undecided.message, details: { folders: undecided.folders ?? [] } }
        }
        const found = await lookAtWork(services, task, { seen: vouched, judged }, signal)
        const other = vouched === null ? checkJudged({ ...found, by_person: false }) : checkSeen(found)
        if (other) return other
        const ref = await worktrees.ref(workspace)
        const work = found.work && { ...found.work, head: await commitJudged(context, task, ref, found.work, signal) }
        const { dirty } = await context.workspaces.checkTarget({ ...ref, ...(work && { head: work.head }) }, { signal })
        if (dirty.length === 0) return work && { work }
        return {
          code: 'merge_target_dirty',
          message: `Your checkout of ${workspace.base_branch} has uncommitted changes in files this merge touches. Commit or stash them, then merge again.`,
          details: { files: dirty },
        }
      },
      run: async ({ task, project, workspace, signal }): Promise<PluginResult> => {
        if (isInParents(context, task)) return { kind: 'ok', note: "its work is on its parent's branch" }
        if (!workspace) return { kind: 'skipped', reason: 'no_workspace' }
        // A move that nobody waits for is not refused: it waits until nothing half-written can be merged.
        await services.waitUntilExclusive(task.id, signal)
        if (signal.aborted) return { kind: 'skipped', reason: 'superseded' }
        const ref = await worktrees.ref(workspace)
        try {
          const head = await headToMerge(context, task, ref, signal)
          const strategy = toSettings(project).merge_strategy
          const result = await context.workspaces.merge(
            { ...ref, ...(head !== null && { head }), strategy, message: commitMessage(task, task.title) },
            { signal },
          )
          if (result.kind !== 'merged') return refused(context, task, workspace, result)
          const { base_branch, branch } = workspace
          const note = result.empty ? `; ${branch} has no commits of its own` : ''
          return { kind: 'ok', note: `${base_branch} is at ${result.commit.slice(0, 12)}${note}` }
        } catch (error) {
          if (!(error instanceof WorkspaceError) || signal.aborted) throw error
          return {
            kind: 'failed',
            reason: error.message,
            annotation: { type: 'workspace_error', message: error.message, recovery_actions: ['retry_merge'] },
            notify: { event_type: 'merge.failed', body: error.message },
          }
        }
      },
    }
  },
}

function refused(
  context: EngineContext,
  task: TaskRecord,
  { base_branch, branch }: WorkspaceRecord,
  result: Exclude<MergeResult, { kind: 'merged' }>,
): PluginResult {
  const files = [...result.files]
  const isConflict = result.kind === 'conflict'
  const message = isConflict
    ? `${files.length === 1 ? 'One file conflicts' : `${files.length} files conflict`} with ${base_branch}. Let the agent resolve it, or resolve it on ${branch} and retry.`
    : `Your checkout of ${base_branch} has changes that this merge would overwrite. Commit or stash them, then retry the merge.`
  const hunks = isConflict ? { hunks: toConflictHunks(context, task, result.hunks) } : {}
  return {
    kind: 'failed',
    reason: `${message} ${files.slice(0, 20).join(', ')}`,
    annotation: { type: 'merge_conflict', message, files, ...hunks, recovery_actions: ['retry_merge'] },
    notify: { event_type: 'merge.failed', body: message },
  }
}

/** An ordered subtask works on its parent's branch: it has nothing of its own to merge. */
function isInParents(context: EngineContext, task: TaskRecord): boolean {
  return workspaceOwner(context.store.read, task).id !== task.id
}

/** The commit of exactly what was judged, whatever is in the worktree by now; without a review, of what is there. */
async function headToMerge(
  context: EngineContext,
  task: TaskRecord,
  ref: BranchRef,
  signal: AbortSignal,
): Promise<string | null> {
  const judged = vouchingReview(context.store.read, context.store.read.tasks.get(task.id) ?? task)
  const { head = null, tree = null } = judged ?? {}
  const work = head !== null && tree !== null ? { head, tree } : await context.workspaces.work(ref, { signal })
  return work && (await commitJudged(context, task, ref, work, signal))
}

async function commitJudged(
  { workspaces }: EngineContext,
  task: TaskRecord,
  ref: BranchRef,
  work: Work,
  signal: AbortSignal,
): Promise<string> {
  return await workspaces.commitWork(ref, work, commitMessage(task, keepMessage), { signal })
}
