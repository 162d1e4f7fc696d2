import type { TaskId } from '../../src-shared/contract/ids.ts'
import { nowIso, type EngineContext } from './context.ts'
import { saveWorkspace } from './save-workspace.ts'
import type { TaskRecord, WorkspaceRecord } from './store-port.ts'
import type { Transitions } from './transitions.ts'

export interface Cleanup {
  /** Applies the clean-up policy of the state that the task entered. */
  enter(task: TaskRecord, state: string, signal: AbortSignal): Promise<void>
  /** Removes the worktrees whose time has come. */
  sweep(signal: AbortSignal): Promise<void>
  remove(workspace: WorkspaceRecord, signal: AbortSignal): Promise<void>
}

export function createCleanup(deps: {
  readonly context: EngineContext
  readonly transitions: Transitions
  readonly stopAll: (task_id: TaskId) => Promise<void>
}): Cleanup {
  const { context, transitions } = deps
  const remove: Cleanup['remove'] = async (workspace, signal) => {
    await deps.stopAll(workspace.task_id)
    const task = context.store.read.tasks.get(workspace.task_id)
    let done: WorkspaceRecord = { ...workspace, status: 'cleaned', cleanup_at: null, error: null }
    try {
      await context.workspaces.remove(
        { repo_path: workspace.repo_path, path: workspace.path, task_id: workspace.task_id },
        { signal },
      )
    } catch (error) {
      if (signal.aborted) throw error
      context.log.error({ err: error, task_id: workspace.task_id }, 'a worktree could not be removed')
      done = {
        ...workspace,
        status: 'error',
        cleanup_at: null,
        error: error instanceof Error ? error.message : 'It could not be removed.',
      }
    }
    context.feed.commit((tx) => {
      if (task) saveWorkspace(tx, task, done)
    })
  }
  return {
    remove,
    enter: async (task, state, signal) => {
      const workspace = context.store.read.workspaces.byTask(task.id)
      if (!workspace || workspace.status === 'cleaned') return
      const workflow = transitions.workflowOf(context.store.read, task)
      const isCancelled = workflow.cancellation?.name === state
      const policy =
        workflow.states.get(state)?.cleanup ??
        (isCancelled
          ? { policy: 'delayed' as const, seconds: context.config.cleanupDelaySeconds }
          : { policy: 'immediate' as const })
      if (policy.policy === 'immediate') {
        await remove(workspace, signal)
        return
      }
      const cleanup_at = new Date(context.clock.now() + policy.seconds * 1_000).toISOString()
      context.feed.commit((tx) => {
        saveWorkspace(tx, task, { ...workspace, status: 'cleanup_scheduled', cleanup_at })
      })
    },
    sweep: async (signal) => {
      for (const workspace of context.store.read.workspaces.toClean(nowIso(context))) {
        if (signal.aborted) return
        await remove(workspace, signal)
      }
    },
  }
}
