import { z } from 'zod'
import type { Refusal } from '../../../src-shared/contract/errors.ts'
import { filesChanged, headChanged } from '../../domain/review/decide-verdict.ts'
import { workspaceLocked } from '../../domain/task/claim-guard.ts'
import { isPerson } from '../../domain/transition/audience.ts'
import { isReviewGate } from '../../domain/workflow/graph.ts'
import { commitMessage, keepMessage } from '../worktrees/commit-message.ts'
import type { EngineContext } from '../context.ts'
import { showHunks } from '../worktrees/show-hunks.ts'
import { WorkspaceError, type MergeResult } from '../ports/workspaces.ts'
import type { ReviewRecord, TaskRecord, WorkspaceRecord } from '../ports/store.ts'
import { toSettings } from '../views.ts'
import { workspaceOwner } from '../worktrees/workspace-of.ts'
import type { Plugin, PluginResult, PluginServices } from './plugin.ts'

/** Merges the task's branch into its base, without touching anybody's checkout unless that loses nothing. */
export function runMerge(services: Pick<PluginServices, 'context' | 'worktrees' | 'isShared' | 'whenAlone'>): Plugin {
  const { context, worktrees } = services
  return {
    name: 'run_merge',
    purpose: 'Merge the task’s branch.',
    phases: ['on_enter', 'after_enter'],
    events: [],
    options: z.strictObject({}),
    guard: async ({ task, workflow, workspace, triggered_by, signal }) => {
      if (isInParents(context, task)) return null
      if (services.isShared(task.id)) return workspaceLocked
      if (!workspace)
        return { code: 'review_not_ready', message: 'There is nothing to merge: the task never had a workspace.' }
      const ref = await worktrees.ref(workspace)
      if (ref.path !== null) {
        const gate = workflow.states.get(task.status)
        const judged = gate && isReviewGate(gate) ? context.store.read.reviews.latest(task.id) : null
        const changed = judged && (await changedSinceReview(context, judged, ref.path, isPerson(triggered_by), signal))
        if (changed) return changed
        // What is not committed yet is merged too, so it counts for what is in the way.
        await keepUncommitted(context, task, ref.path, signal)
      }
      const { dirty } = await context.workspaces.checkTarget(ref, { signal })
      if (dirty.length === 0) return null
      return {
        code: 'merge_target_dirty',
        message: `Your checkout of ${workspace.base_branch} has changes in files that the merge would change. Commit or stash them, then merge again.`,
        details: { files: dirty },
      }
    },
    run: async ({ task, project, workspace, signal }): Promise<PluginResult> => {
      if (isInParents(context, task)) return { kind: 'ok', note: "its work is on its parent's branch" }
      if (!workspace) return { kind: 'skipped', reason: 'no_workspace' }
      // A move that nobody waits for is not refused: it waits until nothing half-written can be merged.
      await services.whenAlone(task.id, signal)
      if (signal.aborted) return { kind: 'skipped', reason: 'superseded' }
      const ref = await worktrees.ref(workspace)
      try {
        if (ref.path !== null) await keepUncommitted(context, task, ref.path, signal)
        const result = await context.workspaces.merge(
          { ...ref, strategy: toSettings(project).merge_strategy, message: commitMessage(task, task.title) },
          { signal },
        )
        if (result.kind !== 'merged') return refused(context, task, workspace, result)
        const { base_branch, branch } = workspace
        const note = result.empty ? `; ${branch} has no commit of its own` : ''
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
    ? `${files.length === 1 ? 'One file conflicts' : `${files.length} files conflict`} with ${base_branch}. Send the task back to its coder, or resolve it on ${branch} and try again.`
    : `Your checkout of ${base_branch} has changes in the way. Commit or stash them, then try the merge again.`
  const hunks = isConflict ? { hunks: showHunks(context, task, result.hunks) } : {}
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

/**
 * A passed review vouches for the work that it judged, in whichever commit that is by now, and for no other. What
 * changed since without being committed is merged on a person's word, who has seen the diff, but by nobody else.
 */
async function changedSinceReview(
  { workspaces }: EngineContext,
  { head_commit, tree }: ReviewRecord,
  path: string,
  by_person: boolean,
  signal: AbortSignal,
): Promise<Refusal | null> {
  const files = tree === null ? null : await workspaces.changedSince(path, tree, { signal })
  if (files?.length === 0) return null
  const head = await workspaces.head(path, { signal })
  if (head_commit !== null && head !== head_commit) return headChanged(head_commit, head)
  return by_person || files === null ? null : filesChanged(files)
}

/** Commits what is uncommitted; the review goes along, since it was of that work or a person vouches for it. */
async function keepUncommitted(
  context: EngineContext,
  task: TaskRecord,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const commit = await context.workspaces.commitAll(path, commitMessage(task, keepMessage), { signal })
  if (commit === null) return
  context.feed.commit((tx) => {
    const review = tx.reviews.latest(task.id)
    if (review?.status !== 'passed' || review.head_commit === null) return
    const moved = { ...review, head_commit: commit }
    tx.reviews.put(moved)
    tx.emit('review.updated', { project_id: task.project_id, task_id: task.id, review: moved })
  })
}
