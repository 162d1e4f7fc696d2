import { z } from 'zod'
import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { LandingResult } from '../../src-shared/contract/landing.ts'
import type { ErrorAnnotation } from '../../src-shared/contract/tasks.ts'
import { assertNever } from '../../src-shared/lang/assert-never.ts'
import { describeRed } from '../landing/describe-red.ts'
import type { LandRequest } from '../landing/landing.ts'
import type { LaneEnd } from '../landing/lane.ts'
import { noteBaseMove, noteLanded } from '../landing/merge-records.ts'
import { targetDirty } from '../landing/target-dirty.ts'
import type { Workflow } from '../domain/workflow/graph.ts'
import { lastGate } from '../transitions/count-rejections.ts'
import { checkJudged, checkSeen } from '../domain/review/judged-work.ts'
import { workspaceLocked } from '../tasks/rules/claim-guard.ts'
import { commitMessage, keepMessage } from '../workspaces/commit-message.ts'
import type { Ground } from '../core/ground.ts'
import { vouchingReview } from '../transitions/review-attempts.ts'
import { settleInner } from '../workspaces/inner-repositories.ts'
import { lookAtWork } from '../workspaces/look-at-work.ts'
import { settleElsewhere } from '../workspaces/work-elsewhere.ts'
import { toConflictHunks } from '../workspaces/to-conflict-hunks.ts'
import { WorkspaceError } from '../ports/workspace-error.ts'
import type { BranchRef } from '../ports/branch-ref.ts'
import type { BaseMove, MergeResult } from '../ports/target-mover.ts'
import type { Work } from '../ports/work-keeper.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { WorkspaceRecord } from '../ports/workspace-queries.ts'
import { toSettings } from '../core/views.ts'
import { stackGate } from '../core/stack-of.ts'
import { workspaceOwner } from '../core/workspace-of.ts'
import type { PluginDefinition, PluginServices } from '../hooks/plugin.ts'
import type { PluginResult } from '../core/plugin-result.ts'

/** Merges the task's branch into its base; changes a checkout only if that loses nothing. */
export const runMerge: PluginDefinition = {
  name: 'run_merge',
  purpose: 'Merge the task’s branch.',
  phases: ['on_enter', 'after_enter'],
  events: [],
  options: z.strictObject({}),
  traits: ['merges'],
  create: (services) => {
    const { context, worktrees, landing } = services
    return {
      guard: async ({ task, project, workflow, vouched, on_red = false, workspace: known, signal }) => {
        if (isInParents(context, task)) return null
        let workspace = known
        if (stackGate(context.store.read, workflow, task) !== null) {
          // The task below it may have landed just now.
          await services.bringAlong(task.id, signal)
          const gate = stackGate(context.store.read, workflow, task)
          if (gate) return gate
          workspace = worktrees.of(task)
        }
        if (services.isWorktreeShared(task.id)) return workspaceLocked
        if (!workspace)
          return { code: 'review_not_ready', message: 'Nothing to merge: this task never had a worktree.' }
        const judged = vouchingReview(context.store.read, task)
        const elsewhere = await settleElsewhere(context, task, await worktrees.ref(workspace), signal)
        if (elsewhere.kind === 'held') return blockMerge(context, task, elsewhere.annotation)
        if (elsewhere.kind === 'conflict') return { code: 'review_not_ready', message: elsewhere.feedback }
        // What was found by now may have opened the review again.
        if (
          judged !== null &&
          vouchingReview(context.store.read, context.store.read.tasks.get(task.id) ?? task) === null
        )
          return {
            code: 'review_not_ready',
            message: 'The repository changed since the review. Look at its notes, then decide again.',
          }
        // The gate's review has settled nested repositories already.
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
        const { dirty } = await context.target.checkTarget({ ...ref, ...(work && { head: work.head }) }, { signal })
        if (dirty.length > 0) return await targetDirty(context, workspace, dirty)
        const red = on_red ? null : await landing.redStep(task.repo_id, workspace.repo_path, workspace.base_branch)
        return red === null ? work && { work } : baseRed(workspace, red)
      },
      run: async ({ task, project, workflow, on_red = false, workspace, signal }): Promise<PluginResult> => {
        if (isInParents(context, task)) return { kind: 'ok', note: "its work is on its parent's branch" }
        if (!workspace) return { kind: 'skipped', reason: 'no_workspace' }
        const gate = stackGate(context.store.read, workflow, task)
        if (gate) return backToGate(context, { request: { task }, workflow }, gate.message, null)
        // A transition without a caller to refuse waits until no run can leave half-written files to merge.
        await services.waitUntilExclusive(task.id, signal)
        if (signal.aborted) return { kind: 'skipped', reason: 'superseded' }
        const ref = await worktrees.ref(workspace)
        try {
          const head = await headToMerge(context, task, ref, signal)
          const { merge_strategy: strategy, landing: settings, sign_merges: sign } = toSettings(project)
          const merge = {
            ...ref,
            ...(head !== null && { head }),
            strategy,
            sign,
            message: commitMessage(task, task.title),
          }
          const tree = vouchingReview(context.store.read, task)?.tree ?? null
          // What came of bringing it along keeps its approval, but no check has seen it.
          const judged_tree = tree === workspace.stack?.untested ? null : tree
          const request = { task, project, merge, judged_tree, on_red }
          const beforeMove = (move: BaseMove): void => noteBaseMove(context, task.id, workspace.base_branch, move)
          const end =
            settings.mode === 'off'
              ? endOf(await context.target.merge(merge, { signal, beforeMove }))
              : await landing.land(request, signal)
          if (signal.aborted && end.kind === 'removed') return { kind: 'skipped', reason: 'superseded' }
          return await toPluginResult(services, { request, workflow, workspace, signal }, end)
        } catch (error) {
          if (!(error instanceof WorkspaceError) || signal.aborted) throw error
          return broken(error.message)
        }
      },
    }
  },
}

/** Shows on the task what blocks its merge, with the actions that lead out. */
function blockMerge({ feed }: Ground, { id }: TaskRecord, annotation: ErrorAnnotation): Refusal {
  feed.commit((tx) => {
    const task = tx.tasks.get(id)
    if (task) tx.saveTask({ ...task, error_annotation: annotation })
  })
  return { code: 'review_not_ready', message: annotation.message, details: { places: annotation.places ?? [] } }
}

const emptyResult = { step: null, exit_code: null, output_tail: '', with: [] }

/** Returns the end of an untested merge in the form of the landing lane. */
function endOf(result: MergeResult): LaneEnd {
  if (result.kind === 'target_dirty') return { kind: 'dirty', files: result.files }
  return result.kind === 'conflict'
    ? result
    : {
        kind: 'landed',
        commit: result.commit,
        empty: result.empty === true,
        flaky: [],
        ...(result.unsigned !== undefined && { unsigned: result.unsigned }),
      }
}

function merged(
  { base_branch, branch }: WorkspaceRecord,
  { commit, empty, flaky, unsigned }: Extract<LaneEnd, { kind: 'landed' }>,
): PluginResult {
  const nothing = empty ? `; ${branch} has no commits of its own` : ''
  const twice = flaky.length > 0 ? `; flaky, passed on the second try: ${flaky.join(', ')}` : ''
  const bare = unsigned === undefined ? '' : `; not signed: ${unsigned}`
  return { kind: 'ok', note: `${base_branch} is at ${commit.slice(0, 12)}${nothing}${twice}${bare}` }
}

interface LandingContext {
  readonly request: LandRequest
  readonly workflow: Workflow
  readonly workspace: WorkspaceRecord
  readonly signal: AbortSignal
}

/** Returns the result for an end of the landing, and keeps it for a caller that waits. */
async function toPluginResult(services: PluginServices, landed: LandingContext, end: LaneEnd): Promise<PluginResult> {
  const { context, landing } = services
  const { request, workflow, workspace, signal } = landed
  const { task } = request
  const note = (result: LandingResult['result'], more: Partial<LandingResult> = {}) => {
    landing.noteEnd(task.id, { result: { result, ...emptyResult, ...more } })
  }
  const refuse = (refusal: Refusal) => {
    landing.noteEnd(task.id, { result: { result: 'removed', ...emptyResult }, refusal })
    return backToGate(context, landed, refusal.message, refusal)
  }
  switch (end.kind) {
    case 'landed':
      await noteLanded(context, task.id, workspace, end.commit)
      note('landed')
      return merged(workspace, end)
    case 'conflict':
      note('conflict')
      return conflicting(context, task, workspace, end)
    case 'dirty':
      return refuse(await targetDirty(context, workspace, end.files))
    case 'base_red':
      return refuse(baseRed(workspace, end.step))
    case 'removed':
      note('removed')
      return backToGate(context, landed, 'Taken out of the landing lane.', null)
    case 'broken':
      return broken(end.message)
    case 'failed': {
      const { feedback, with: others } = await describeRed(context, request, end, signal)
      const { step, exit_code, output_tail } = end
      note('red', { step, exit_code, output_tail, with: [...others] })
      const gate = lastGate(context.store.read, workflow, task)
      const notify = {
        event_type: 'review.failed',
        body: `Merged into ${workspace.base_branch}, it fails ${step}.`,
      } as const
      if (gate?.gate_config?.reject_target !== undefined) {
        return {
          kind: 'rejected',
          gate: gate.name,
          feedback,
          note: `${step} failed with exit code ${exit_code}`,
          notify,
        }
      }
      const annotation: ErrorAnnotation = {
        type: 'merge_conflict',
        message: feedback,
        recovery_actions: ['retry_merge'],
      }
      return { kind: 'failed', reason: feedback, annotation, notify }
    }
    default:
      return assertNever(end)
  }
}

/** Sends the task back to its gate; without one, the merge has failed. */
function backToGate(
  context: Ground,
  { request, workflow }: Pick<LandingContext, 'workflow'> & { readonly request: Pick<LandRequest, 'task'> },
  reason: string,
  refusal: Refusal | null,
): PluginResult {
  const gate = lastGate(context.store.read, workflow, request.task)
  const files = (refusal?.details as { files?: string[] } | undefined)?.files
  const annotation: ErrorAnnotation = {
    type: 'merge_conflict',
    message: reason,
    ...(files && { files }),
    recovery_actions: gate ? [] : ['retry_merge'],
  }
  const notify = { event_type: 'merge.failed', body: reason } as const
  const told = refusal === null ? {} : { annotation, notify }
  return gate === null
    ? { kind: 'failed', reason, annotation, ...(refusal !== null && { notify }) }
    : { kind: 'returned', gate: gate.name, reason, ...told }
}

const broken = (message: string): PluginResult => ({
  kind: 'failed',
  reason: message,
  annotation: { type: 'workspace_error', message, recovery_actions: ['retry_merge'] },
  notify: { event_type: 'merge.failed', body: message },
})

const baseRed = ({ base_branch }: WorkspaceRecord, step: string): Refusal => ({
  code: 'base_red',
  message: `${base_branch} fails \`${step}\` without this task. Fix ${base_branch} first, or merge anyway.`,
  details: { step },
})

function conflicting(
  context: Ground,
  task: TaskRecord,
  { base_branch, branch }: WorkspaceRecord,
  conflict: Extract<LaneEnd, { kind: 'conflict' }>,
): PluginResult {
  const files = [...conflict.files]
  const count = files.length === 1 ? 'One file conflicts' : `${files.length} files conflict`
  const message = `${count} with ${base_branch}. Let the agent resolve it, or resolve it on ${branch} and retry.`
  const hunks = toConflictHunks(context, task, conflict.hunks)
  return {
    kind: 'failed',
    reason: `${message} ${files.slice(0, 20).join(', ')}`,
    annotation: { type: 'merge_conflict', message, files, hunks, recovery_actions: ['retry_merge'] },
    notify: { event_type: 'merge.failed', body: message },
  }
}

/** Returns whether the task works on its parent's branch, so that it has nothing of its own to merge. */
function isInParents(context: Ground, task: TaskRecord): boolean {
  return workspaceOwner(context.store.read, task).id !== task.id
}

/**
 * Returns a commit of exactly the reviewed tree, whatever the worktree holds now; without a review, of the worktree.
 */
async function headToMerge(
  context: Ground,
  task: TaskRecord,
  ref: BranchRef,
  signal: AbortSignal,
): Promise<string | null> {
  const judged = vouchingReview(context.store.read, context.store.read.tasks.get(task.id) ?? task)
  const { head = null, tree = null } = judged ?? {}
  const work =
    head !== null && tree !== null ? { head, tree } : await context.places.of(task.id).work.work(ref, { signal })
  return work && (await commitJudged(context, task, ref, work, signal))
}

async function commitJudged(
  { places }: Ground,
  task: TaskRecord,
  ref: BranchRef,
  work: Work,
  signal: AbortSignal,
): Promise<string> {
  return await places.of(task.id).work.commitWork(ref, work, commitMessage(task, keepMessage), { signal })
}
