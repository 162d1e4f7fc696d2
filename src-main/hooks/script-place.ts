import type { Ground } from '../core/ground.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { WorkspaceRecord } from '../ports/workspace-queries.ts'
import { workspaceOf } from '../core/workspace-of.ts'
import type { Worktrees } from '../workspaces/worktrees.ts'

/** The folder in which a task's script runs, and the `SVC_` variables that it gets. */
export interface ScriptPlace {
  readonly workspace: WorkspaceRecord | null
  /** The worktree; when there is none yet or any more, the root of the repository. */
  readonly cwd: string | null
  readonly env: Record<string, string>
}

export async function scriptPlace(
  { context, worktrees }: { readonly context: Ground; readonly worktrees: Pick<Worktrees, 'environment'> },
  task: TaskRecord,
  event: string,
  told: Parameters<Worktrees['environment']>[2],
): Promise<ScriptPlace> {
  const { read } = context.store
  const workspace = workspaceOf(read, task)
  const env = worktrees.environment(task, event, told)
  if (workspace !== null && (await context.places.of(task.id).worktrees.exists(workspace.path)))
    return { workspace, cwd: workspace.path, env }
  const root = workspace?.repo_path ?? read.repos.get(task.repo_id)?.path ?? null
  return { workspace, cwd: root, env: { ...env, SVC_WORKTREE_PATH: '' } }
}
