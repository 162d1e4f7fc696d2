import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { TaskId } from '../../src-shared/contract/ids.ts'
import { workspaceLocked } from '../tasks/rules/claim-guard.ts'
import { nowIso, type Ground } from '../core/ground.ts'
import { saveWorkspace } from './save-workspace.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { WorkspaceRecord } from '../ports/workspace-queries.ts'
import type { Transitions } from '../transitions/transitions.ts'
import type { Worktrees } from './worktrees.ts'
import { othersInWorkspace, workspaceOwner } from '../core/workspace-of.ts'

/** The result of a clean-up. */
export type CleanupEnd =
  | { readonly kind: 'cleaned' }
  | { readonly kind: 'scheduled'; readonly cleanup_at: string }
  /** The files could not be removed; the workspace record has the same message. */
  | { readonly kind: 'failed'; readonly message: string }
  /** `not_needed`: the worktree is already removed, or it is the parent's and so not this task's to remove. */
  | { readonly kind: 'nothing'; readonly reason: 'no_workspace' | 'not_needed' }

export interface Cleanup {
  /** Applies the clean-up policy of the state that the task entered. */
  enter(task: TaskRecord, state: string, signal: AbortSignal): Promise<void>
  /** Removes the worktree of a task at once, but never its branch. Uncommitted work is saved as a rescue. */
  now(task: TaskRecord, signal: AbortSignal): Promise<CleanupEnd>
  /** Schedules the removal of a task's worktree. */
  later(task: TaskRecord, seconds: number): CleanupEnd
  /** Removes the worktree of a finished task when a person asks: before its time, or after a failed removal. */
  byHand(task: TaskRecord, signal: AbortSignal): Promise<WorkspaceRecord | Refusal>
  /** Removes the worktrees that are due. */
  sweep(signal: AbortSignal): Promise<void>
  remove(workspace: WorkspaceRecord, signal: AbortSignal): Promise<CleanupEnd>
}

export interface CleanupDeps {
  readonly context: Ground & { readonly cleanupDelaySeconds: number }
  readonly transitions: Pick<Transitions, 'workflowOf'>
  readonly worktrees: Pick<Worktrees, 'exclusively'>
  /** Ends the runs of a task; called after the hooks of its end have run. */
  readonly endAll: (task_id: TaskId, signal: AbortSignal) => Promise<void>
}

/** Creates the ways to remove a worktree; all of them end in `remove`. */
export function createCleanup(deps: CleanupDeps): Cleanup {
  const { context, transitions } = deps
  const remove: Cleanup['remove'] = (workspace, signal) => removeWorktree(deps, workspace, signal)
  const now: Cleanup['now'] = async (task, signal) => {
    const found = ownWorkspace(context, task)
    return 'kind' in found ? found : remove(found, signal)
  }
  const later: Cleanup['later'] = (task, seconds) => {
    const found = ownWorkspace(context, task)
    if ('kind' in found) return found
    const cleanup_at = new Date(context.clock.now() + seconds * 1_000).toISOString()
    context.feed.commit((tx) => {
      saveWorkspace(tx, task, { ...found, status: 'cleanup_scheduled', cleanup_at })
    })
    return { kind: 'scheduled', cleanup_at }
  }
  return {
    remove,
    now,
    later,
    byHand: async (task, signal) => refuseByHand(deps, task) ?? outcomeByHand(deps, task, await now(task, signal)),
    enter: async (task, state, signal) => {
      const workflow = transitions.workflowOf(context.store.read, task)
      const isCancelled = workflow.cancellation?.name === state
      const policy =
        workflow.states.get(state)?.cleanup ??
        (isCancelled
          ? { policy: 'delayed' as const, seconds: context.cleanupDelaySeconds }
          : { policy: 'immediate' as const })
      if (policy.policy === 'immediate') await now(task, signal)
      else later(task, policy.seconds)
    },
    sweep: async (signal) => {
      const now = nowIso(context)
      for (const { task_id } of context.store.read.workspaces.toClean(now)) {
        if (signal.aborted) return
        await sweepOne(deps, task_id, now, signal)
      }
    },
  }
}

function refuseByHand({ context, transitions }: CleanupDeps, task: TaskRecord): Refusal | null {
  const { read } = context.store
  if (workspaceOwner(read, task).id !== task.id) {
    return notByHand('This task works in the workspace of its parent. Clean that one up.')
  }
  if (!read.workspaces.byTask(task.id)) return noWorkspace
  const state = transitions.workflowOf(read, task).states.get(task.status)
  if (state?.kind !== 'terminal' || task.entry_barrier) {
    return notByHand('The task is not finished, and needs its workspace. Finish or cancel it first.')
  }
  return othersInWorkspace(read, task).length > 0 ? workspaceLocked : null
}

function outcomeByHand({ context }: CleanupDeps, task: TaskRecord, end: CleanupEnd): WorkspaceRecord | Refusal {
  if (end.kind === 'failed') return { code: 'workspace_failed', message: end.message }
  return context.store.read.workspaces.byTask(task.id) ?? noWorkspace
}

const notByHand = (message: string): Refusal => ({ code: 'recovery_not_available', message })
const noWorkspace: Refusal = {
  code: 'not_found',
  message: 'This task has no workspace.',
  details: { resource: 'workspace' },
}

/** Returns the worktree that a task may remove: its own, if it still exists. */
function ownWorkspace(context: Ground, task: TaskRecord): WorkspaceRecord | (CleanupEnd & { kind: 'nothing' }) {
  const { read } = context.store
  if (workspaceOwner(read, task).id !== task.id) return { kind: 'nothing', reason: 'not_needed' }
  const workspace = read.workspaces.byTask(task.id)
  if (!workspace) return { kind: 'nothing', reason: 'no_workspace' }
  return workspace.status === 'cleaned' ? { kind: 'nothing', reason: 'not_needed' } : workspace
}

/** Checks the task again before the removal: if it was reopened since the search, it needs its worktree. */
async function sweepOne(deps: CleanupDeps, task_id: TaskId, now: string, signal: AbortSignal): Promise<void> {
  const { read } = deps.context.store
  const task = read.tasks.get(task_id)
  if (!task) return
  await deps.worktrees.exclusively(task, async () => {
    const workspace = read.workspaces.byTask(task_id)
    if (workspace?.status !== 'cleanup_scheduled' || workspace.cleanup_at === null || workspace.cleanup_at > now) return
    if (read.executions.openOfTask(task_id).length > 0 || othersInWorkspace(read, task).length > 0) return
    // Let the task's running hooks finish; the next sweep tries again.
    if (read.pendingHooks.ofTask(task_id).length > 0) return
    await removeFiles(deps.context, task, workspace, signal)
  })
}

async function removeWorktree(deps: CleanupDeps, workspace: WorkspaceRecord, signal: AbortSignal): Promise<CleanupEnd> {
  const { read } = deps.context.store
  const task = read.tasks.get(workspace.task_id)
  if (!task) return { kind: 'nothing', reason: 'no_workspace' }
  // Ordered subtasks work in their parent's worktree, so their runs end before it is removed. This happens before the
  // exclusive access, because a run that is starting waits for the worktree too.
  const guests = othersInWorkspace(read, task).map((one) => one.task_id)
  await Promise.all([...new Set([workspace.task_id, ...guests])].map((task_id) => deps.endAll(task_id, signal)))
  return deps.worktrees.exclusively(task, () =>
    removeFiles(deps.context, task, read.workspaces.byTask(task.id) ?? workspace, signal),
  )
}

async function removeFiles(
  context: Ground,
  task: TaskRecord,
  workspace: WorkspaceRecord,
  signal: AbortSignal,
): Promise<CleanupEnd> {
  let end: CleanupEnd = { kind: 'cleaned' }
  try {
    const { repo_path, path, task_id } = workspace
    await context.places.of(task.id).worktrees.remove({ repo_path, path, task_id }, { signal })
  } catch (error) {
    if (signal.aborted) throw error
    context.log.error({ err: error, task_id: task.id }, 'a worktree could not be removed')
    end = { kind: 'failed', message: error instanceof Error ? error.message : 'The worktree couldn’t be removed.' }
  }
  const after: WorkspaceRecord = {
    ...workspace,
    cleanup_at: null,
    ...(end.kind === 'failed' ? { status: 'error', error: end.message } : { status: 'cleaned', error: null }),
  }
  await context.writes.untilWritten(() =>
    context.feed.commit((tx) => {
      saveWorkspace(tx, task, after)
    }),
  )
  return end
}
