import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { conflictAnswers, MergeConflicts, updateStrategies } from '../../src-shared/contract/merges.ts'
import { settleOrAbort } from '../platform/locks/settle-or-abort.ts'
import { workspaceLocked } from './rules/claim-guard.ts'
import { conflictPrompt } from '../workspaces/rules/conflict-text.ts'
import { invalidInput, isRefusal, notFound } from '../domain/refusal.ts'
import type { FeedbackRequest } from './plan-follow-up.ts'
import { commitMessage, keepMessage } from '../workspaces/commit-message.ts'
import { withWorktreeLock } from '../workspaces/with-worktree-lock.ts'
import type { ActionDeps } from './action-services.ts'
import type { StepServices } from '../steps/step-services.ts'
import type { Actions } from './actions.ts'
import { redactHunks, toConflictHunks } from '../workspaces/to-conflict-hunks.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { Queries } from '../ports/store.ts'
import type { WorkspaceRecord } from '../ports/workspace-queries.ts'
import { noteUpdate } from '../workspaces/note-update.ts'
import {
  answerOf,
  conflictRefusal,
  workspaceGoneRefusal,
  type Attempt,
  type Conflict,
  type UpdatedBranch,
} from './update-answer.ts'
import { redactorOf } from '../core/redactor-of.ts'
import { toSettings } from '../core/views.ts'
import { saveWorkspace } from '../workspaces/save-workspace.ts'
import { othersInWorkspace, workspaceOf, workspaceOwner } from '../core/workspace-of.ts'
import type { BranchRef } from '../ports/branch-ref.ts'

export interface UpdateBranchRequest extends Pick<FeedbackRequest, 'task_id' | 'by' | 'triggered_by'> {
  readonly strategy: (typeof updateStrategies)[number]
  readonly on_conflict: (typeof conflictAnswers)[number]
  /** The new base branch of the task; null keeps the current one. */
  readonly base_branch: string | null
}

/** Updates tasks' branches from their base branches. */
export interface BranchUpdates {
  /** Returns the conflicts that a merge would have now; null if the task has no branch. */
  conflicts(task: TaskRecord, signal: AbortSignal): Promise<MergeConflicts | null>
  /**
   * Merges the base into the task's branch, after the task's pending steps. Holds the worktree exclusively during the
   * merge.
   */
  update(request: UpdateBranchRequest, signal: AbortSignal): Promise<UpdatedBranch | Refusal>
}

type Deps = StepServices & Pick<ActionDeps, 'worker'> & { readonly actions: Pick<Actions, 'feedback'> }

/** How long a request waits for pending steps before it is refused. */
const patienceMs = 30_000

export function createBranchUpdates(deps: Deps): BranchUpdates {
  const { context, worktrees } = deps
  return {
    conflicts: async (task, signal) => {
      const workspace = worktrees.of(task)
      const project = context.store.read.projects.get(task.project_id)
      if (!workspace || workspace.base_commit === null || !project) return null
      const ref = await worktrees.ref(workspace)
      const strategy = toSettings(project).merge_strategy
      const found = await context.places.of(workspace.task_id).branches.conflicts({ ...ref, strategy }, { signal })
      const redact = redactorOf(context, context.store.read, task.project_id)
      const base_changes = found.base_changes.map((one) => ({ ...one, subject: redact(one.subject) }))
      return { ...found, hunks: redactHunks(context, task, found.hunks), base_changes }
    },
    update: async (request, signal) => {
      await waitForSteps(deps, request.task_id, signal)
      const first = await attempt(deps, request, signal)
      if (isRefusal(first)) return first
      if (first.result.kind !== 'conflict') return answerOf(request.strategy, first)
      if (request.on_conflict === 'agent') return await sendToCoder(deps, request, first, first.result, signal)
      if (request.on_conflict === 'report') return conflictRefusal(context, first, first.result)
      if (first.result.left) return answerOf(request.strategy, first)
      // Resolving conflicts needs files, so the worktree is created again from the branch.
      const ensured = await worktrees.ensure(first.task, signal)
      if (ensured.kind !== 'ready') return workspaceGoneRefusal(ensured.kind === 'failed' ? ensured.message : null)
      const second = await attempt(deps, request, signal)
      if (isRefusal(second)) return second
      const isHeld = second.result.kind === 'conflict' && !second.result.left
      return isHeld ? workspaceGoneRefusal(null) : answerOf(request.strategy, second)
    },
  }
}

/** Waits for the task's pending steps, unless they take long or wait for a person. */
async function waitForSteps({ worker }: Deps, task_id: TaskId, signal: AbortSignal): Promise<void> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)])
  await settleOrAbort(worker.waitUntilDrained(task_id), limit)
  signal.throwIfAborted()
}

/** Updates the branch while holding the worktree exclusively; the result is saved before another run may start. */
async function attempt(deps: Deps, request: UpdateBranchRequest, signal: AbortSignal): Promise<Attempt | Refusal> {
  const { context, worktrees } = deps
  const { read } = context.store
  const asked = read.tasks.get(request.task_id)
  if (!asked) return notFound('task')
  return await worktrees.exclusively(asked, async () => {
    const found = checkBranchChange(deps, request.task_id)
    if (isRefusal(found)) return found
    const lies_on = found.workspace.stack?.on ?? null
    if (request.base_branch !== null && lies_on !== null) {
      const message = `This branch lies on ${found.workspace.base_branch}. Take the task off the stack (stacked_on: null) first.`
      return invalidInput('base_branch', message)
    }
    const workspace = { ...found.workspace, base_branch: request.base_branch ?? found.workspace.base_branch }
    if (workspace.base_branch === workspace.branch) {
      return invalidInput('base_branch', 'A branch can’t be its own base. Name another.')
    }
    const ref = await worktrees.ref(workspace)
    const isSameBase = workspace.base_branch === found.workspace.base_branch
    const without = isSameBase ? workspace.base_commit : null
    return await withWorktreeLock(context, workspace.task_id, ref.path, () =>
      updateHeld(deps, request, { ...found, workspace, ref, without }, signal),
    )
  })
}

async function updateHeld(
  deps: Deps,
  { strategy, on_conflict, triggered_by }: UpdateBranchRequest,
  {
    task,
    workspace,
    ref,
    without,
  }: {
    readonly task: TaskRecord
    readonly workspace: WorkspaceRecord
    readonly ref: BranchRef
    readonly without: string | null
  },
  signal: AbortSignal,
): Promise<Attempt> {
  const { context } = deps
  const { branch, base_branch, path } = ref
  const keep_message = commitMessage(task, keepMessage)
  const result = await context.places.of(workspace.task_id).branches.updateBranch(
    {
      ...ref,
      without,
      task_id: workspace.task_id,
      strategy,
      message: commitMessage(task, `Merge ${base_branch} into ${branch}`),
      keep_message,
      on_conflict: on_conflict === 'editor' ? 'leave' : 'report',
    },
    { signal },
  )
  // An agent needs the base committed, so its merge starts from the committed state.
  const isForAgent = result.kind === 'conflict' && on_conflict === 'agent' && !result.left
  if (isForAgent && path !== null)
    await context.places.of(workspace.task_id).work.commitAll(path, keep_message, { signal })
  const isKept = result.kind !== 'in_the_way' && (result.kind !== 'conflict' || isForAgent || result.left)
  if (isKept) saveBase(deps, task, workspace)
  const isSaid = result.kind !== 'conflict' || isForAgent || (on_conflict !== 'report' && result.left)
  if (isSaid) await noteUpdate(deps, { task, workspace, result, triggered_by })
  return { task, workspace, path, result }
}

/** Saves the new base once the branch contains it, or once a conflict with it is being resolved. */
function saveBase({ context }: Deps, task: TaskRecord, { base_branch }: WorkspaceRecord): void {
  context.feed.commit((tx) => {
    const known = workspaceOf(tx, task)
    if (!known || known.base_branch === base_branch) return
    const record = { ...known, base_branch }
    // A cleaned workspace has only its branch; it is not set to be cleaned again.
    if (known.status === 'cleaned') tx.workspaces.put(record)
    else saveWorkspace(tx, workspaceOwner(tx, task), record)
  })
}

/** Returns the task's branch if no other change of it is pending. */
export function checkBranchChange(
  deps: Pick<Deps, 'context' | 'transitions'>,
  task_id: TaskId,
): { readonly task: TaskRecord; readonly workspace: WorkspaceRecord } | Refusal {
  const { read } = deps.context.store
  const task = read.tasks.get(task_id)
  if (!task) return notFound('task')
  const state = deps.transitions.workflowOf(read, task).states.get(task.status)
  if (state?.kind === 'terminal') {
    return { code: 'task_terminal', message: 'The task is finished; its branch stays as it is.' }
  }
  const workspace = workspaceOf(read, task)
  if (!workspace || workspace.base_commit === null || task.error_annotation?.type === 'workspace_reset_required') {
    return {
      code: 'not_claimable',
      message: 'This task has no branch. Start it, or reset its workspace first.',
    }
  }
  if (isAtWork(read, task)) return workspaceLocked
  const isStuck = !task.entry_barrier && task.error_annotation?.type === 'hook_failed'
  if (task.entry_barrier || (read.effects.first(task.id) !== null && !isStuck)) {
    return { code: 'entry_barrier', message: 'The task is still moving. Try again in a moment.' }
  }
  return { task, workspace }
}

/** Returns whether an agent works in a task's worktree, or is about to. */
export function isAtWork(read: Queries, task: TaskRecord): boolean {
  const runs = [...read.executions.openOfTask(task.id), ...othersInWorkspace(read, task)]
  return runs.some((one) => one.agent_id !== null)
}

/** Gives the conflict to the coder as feedback, in any state of the task: it moves back to its working state. */
async function sendToCoder(
  deps: Deps,
  request: UpdateBranchRequest,
  found: Attempt,
  conflict: Conflict,
  signal: AbortSignal,
): Promise<UpdatedBranch | Refusal> {
  const { task, workspace } = found
  const { task_id, by, triggered_by, strategy } = request
  const { branch, base_branch } = workspace
  const hunks = toConflictHunks(deps.context, task, conflict.hunks, 'in_prompt')
  const message = conflictPrompt({ ...conflict, branch, base_branch, strategy, hunks })
  const sent = await deps.actions.feedback({ task_id, by, triggered_by, comment_ids: [], message }, signal)
  if (isRefusal(sent)) return sent
  const { head, base, files } = conflict
  const { execution_id } = sent
  const used = conflict.left ? 'merge' : strategy
  const { path } = workspace
  return { outcome: 'agent', strategy: used, head, base, rescue_ref: null, path, files, hunks, execution_id }
}
