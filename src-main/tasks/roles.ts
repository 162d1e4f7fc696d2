import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { ExecutionId, TaskId } from '../../src-shared/contract/ids.ts'
import type { Assignee, DiffStat, ErrorAnnotation } from '../../src-shared/contract/tasks.ts'
import { workspaceLocked } from './rules/claim-guard.ts'
import { invalidInput, isRefusal, notFound } from '../domain/refusal.ts'
import { roleOf, workStateOf, type Workflow } from '../domain/workflow/graph.ts'
import { checkRole } from '../domain/workflow/roles.ts'
import type { Tx } from '../core/event-feed.ts'
import type { StepServices } from '../steps/step-services.ts'
import { WorkspaceError } from '../ports/workspace-error.ts'
import { saveWorkspace } from '../workspaces/save-workspace.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { WorkspaceRecord } from '../ports/workspace-queries.ts'
import { toSettings } from '../core/views.ts'
import { othersInWorkspace, workspaceOf, workspaceOwner } from '../core/workspace-of.ts'

const resetLimitMs = 300_000

const resetPending = {
  type: 'workspace_error',
  message: 'The work is to be reset for the new coder. If this stays, give the role again with the reset.',
  reason: 'reset_pending',
  recovery_actions: [],
} satisfies ErrorAnnotation

/**
 * What to reset for a new coder: `reset_workspace` removes the whole branch, `reset_worktree` uncommitted changes.
 */
export interface ResetFlags {
  readonly reset_worktree?: boolean | undefined
  readonly reset_workspace?: boolean | undefined
}

export interface RoleRequest extends ResetFlags {
  readonly task_id: TaskId
  readonly role: string
  readonly assignee: Assignee
  readonly triggered_by: string
}

/** Returns the role of the working state; its holder is the coder. */
export function coderRole(workflow: Workflow): string | null {
  const work = workStateOf(workflow, workflow.queue)
  return work && roleOf(work)
}

/** Returns whether the coder role of a task has a holder. */
export function hasCoder(workflow: Workflow, task: Pick<TaskRecord, 'roles'>): boolean {
  const role = coderRole(workflow)
  return role !== null && task.roles[role] !== undefined
}

/**
 * Assigns a role. A new coder takes the task back to the queue, because the work in progress was another's; for other
 * roles only the holder changes. `moved`: the task's runs must end now. The caller does the requested resets with
 * `resetAfterReassign`.
 */
export function assignRole(deps: StepServices, tx: Tx, request: RoleRequest): { readonly moved: boolean } | Refusal {
  const task = tx.tasks.get(request.task_id)
  if (!task) return notFound('task')
  const workflow = deps.transitions.workflowOf(tx, task)
  const state = workflow.states.get(task.status)
  const isCoder = coderRole(workflow) === request.role
  const refusal = checkRole(workflow, request.role) ?? checkReset(workflow, request, task)
  if (refusal) return refusal
  if (state?.kind === 'terminal')
    return { code: 'task_terminal', message: 'The task is finished; its roles stay as they are.' }
  const resets = wantsReset(request) ? workspaceOf(tx, task) : null
  if (resets && othersInWorkspace(tx, task).length > 0) return workspaceLocked
  // If the service ends before the reset is done, this annotation shows that it is pending.
  const error_annotation = resets && resets.status !== 'cleaned' ? resetPending : null
  const assigned: TaskRecord = {
    ...task,
    roles: { ...task.roles, [request.role]: request.assignee },
    ...(isCoder && { review_passed_at: null }),
  }
  if (isCoder && state?.kind !== 'backlog' && state?.kind !== 'initial') {
    const moved = deps.transitions.apply(tx, assigned, {
      to: workflow.queue.name,
      cause: 'cascade',
      triggered_by: request.triggered_by,
      version: null,
      reason: 'reassigned',
      patch: { review_passed_at: null, active_execution_id: null, error_annotation },
    })
    return isRefusal(moved) ? moved : { moved: true }
  }
  tx.saveTask({
    ...assigned,
    ...(error_annotation && { error_annotation }),
    version: task.version + 1,
  })
  return { moved: isCoder && tx.executions.openOfTask(task.id).length > 0 }
}

function checkReset(workflow: Workflow, request: RoleRequest, task: TaskRecord): Refusal | null {
  if (!wantsReset(request)) return null
  const path = request.reset_workspace === true ? 'reset_workspace' : 'reset_worktree'
  const coder = coderRole(workflow)
  if (request.role !== coder)
    return invalidInput(path, `Only a new coder (role ${coder ?? 'none'}) resets the work. Leave ${path} out.`)
  if (path === 'reset_workspace' && task.subtask_mode === 'ordered' && task.parent_id !== null)
    return invalidInput(path, "This task works in its parent's workspace. Reset the parent's, or use reset_worktree.")
  return null
}

function wantsReset(flags: ResetFlags): boolean {
  return flags.reset_worktree === true || flags.reset_workspace === true
}

/**
 * Does the resets of a reassignment, once the task has no runs any more; removed work is kept under a rescue ref. Does
 * nothing without a workspace. The reassignment holds in any case: a reset that fails annotates the task. The resets
 * are done even if the caller has disconnected.
 */
export async function resetAfterReassign(deps: StepServices, task_id: TaskId, flags: ResetFlags): Promise<void> {
  const { read } = deps.context.store
  const task = read.tasks.get(task_id)
  if (!task || !wantsReset(flags)) return
  await deps.worktrees.exclusively(task, async () => {
    const workspace = workspaceOf(read, task)
    if (!workspace || workspace.status === 'cleaned') return
    try {
      await resetLocked(deps, task, workspace, flags)
    } catch (error) {
      if (!(error instanceof WorkspaceError)) throw error
      writeFailure(deps, task_id, error)
    }
  })
}

/** Holds the worktree's lock during the reset, so that no agent starts in files that are about to be removed. */
async function resetLocked(
  deps: StepServices,
  task: TaskRecord,
  workspace: WorkspaceRecord,
  flags: ResetFlags,
): Promise<void> {
  const { context } = deps
  const signal = AbortSignal.timeout(resetLimitMs)
  const { worktrees, locks, diffs } = context.places.of(task.id)
  const { path, repo_path, branch, base_commit } = workspace
  const execution_id = context.newId() as ExecutionId
  if (await worktrees.exists(path)) {
    const holder = await locks.lock(path, { execution_id, pid: null })
    if (holder) throw new WorkspaceError('git_failed', workspaceLocked.message)
  }
  try {
    if (flags.reset_workspace === true) {
      await worktrees.discard({ repo_path, path, branch, base_commit, task_id: task.id }, { signal })
      // Without a base commit the next claim creates a new branch instead of looking for the old one.
      write(deps, task, { ...workspace, status: 'cleaned', base_commit: null, cleanup_at: null, error: null }, null)
    } else {
      await worktrees.resetWorktree(path, task.id, { signal })
      const ref = await deps.worktrees.ref(workspace)
      write(deps, task, workspace, await diffs.diffStat(ref, { signal }))
    }
  } finally {
    await locks.unlock(path, execution_id)
  }
}

function write(deps: StepServices, task: TaskRecord, workspace: WorkspaceRecord, diff_stat: DiffStat | null): void {
  deps.context.feed.commit((tx) => {
    saveWorkspace(tx, workspaceOwner(tx, task), workspace)
    const current = tx.tasks.get(task.id)
    if (!current) return
    const isPending = current.error_annotation?.reason === resetPending.reason
    tx.saveTask({ ...current, diff_stat, ...(isPending && { error_annotation: null }) })
  })
}

function writeFailure(deps: StepServices, task_id: TaskId, error: WorkspaceError): void {
  deps.context.log.warn({ err: error, task_id }, 'a workspace could not be reset')
  deps.context.feed.commit((tx) => {
    const task = tx.tasks.get(task_id)
    const project = task && tx.projects.get(task.project_id)
    if (!task || !project) return
    const why = deps.context.redactor(toSettings(project).redaction_patterns)(error.message)
    const message = `The role is given, but the work could not be reset: ${why}`
    tx.saveTask({ ...task, error_annotation: { ...resetPending, message, reason: 'reset_failed' } })
  })
}
