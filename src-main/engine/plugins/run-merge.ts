import type { EngineContext } from '../context.ts'
import { WorkspaceError } from '../ports.ts'
import type { TaskRecord, WorkspaceRecord } from '../store-port.ts'
import { toSettings } from '../views.ts'
import type { Worktrees } from '../worktrees.ts'
import type { Plugin, PluginResult } from './plugin.ts'

const keepMessage = 'Keep uncommitted work'

/** Merges the task's branch into its base, without touching anybody's checkout unless that loses nothing. */
export function runMerge(services: { readonly context: EngineContext; readonly worktrees: Worktrees }): Plugin {
  const { context, worktrees } = services
  return {
    name: 'run_merge',
    phases: ['on_enter', 'after_enter'],
    guard: async ({ task, workspace, signal }) => {
      if (!workspace)
        return { code: 'review_not_ready', message: 'There is nothing to merge: the task never had a workspace.' }
      const ref = await worktrees.ref(workspace)
      // What is not committed yet is merged too, so it counts for what is in the way.
      if (ref.path !== null) await context.workspaces.commitAll(ref.path, messageOf(task, keepMessage), { signal })
      const { dirty } = await context.workspaces.checkTarget(ref, { signal })
      if (dirty.length === 0) return null
      return {
        code: 'merge_target_dirty',
        message: `Your checkout of ${workspace.base_branch} has changes in files that the merge would change. Commit or stash them, then merge again.`,
        details: { files: dirty },
      }
    },
    run: async ({ task, project, workspace, signal }): Promise<PluginResult> => {
      if (!workspace) return { kind: 'skipped', reason: 'no_workspace' }
      const ref = await worktrees.ref(workspace)
      try {
        if (ref.path !== null) await context.workspaces.commitAll(ref.path, messageOf(task, keepMessage), { signal })
        const result = await context.workspaces.merge(
          { ...ref, strategy: toSettings(project).merge_strategy, message: messageOf(task, task.title) },
          { signal },
        )
        if (result.kind === 'merged')
          return { kind: 'ok', note: `${workspace.base_branch} is at ${result.commit.slice(0, 12)}` }
        return refused(result.kind, result.files, workspace)
      } catch (error) {
        if (!(error instanceof WorkspaceError) || signal.aborted) throw error
        return {
          kind: 'failed',
          reason: error.message,
          annotation: { type: 'workspace_error', message: error.message, recovery_actions: ['retry_merge'] },
        }
      }
    },
  }
}

function refused(
  kind: 'conflict' | 'target_dirty',
  files: readonly string[],
  workspace: WorkspaceRecord,
): PluginResult {
  const message =
    kind === 'conflict'
      ? `${files.length === 1 ? 'One file conflicts' : `${files.length} files conflict`} with ${workspace.base_branch}. Send the task back to its coder, or resolve it on ${workspace.branch} and try again.`
      : `Your checkout of ${workspace.base_branch} has changes in the way. Commit or stash them, then try the merge again.`
  return {
    kind: 'failed',
    reason: `${message} ${files.slice(0, 20).join(', ')}`,
    annotation: { type: 'merge_conflict', message, files: [...files], recovery_actions: ['retry_merge'] },
  }
}

/** The trailer leads from the commit back to its task. */
function messageOf(task: TaskRecord, subject: string): string {
  return `${subject}\n\nCopse-Task: ${task.id}\n`
}
