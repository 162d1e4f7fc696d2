import type { ProjectId, RunnerId, TaskId } from '../../src-shared/contract/ids.ts'
import type { Queries } from '../ports/store.ts'
import { toSettings } from './views.ts'
import { workspaceOf } from './workspace-of.ts'

/** Returns the look-ups by which a place is found. */
export function runnersIn(q: Queries) {
  return {
    /** Returns the runner of the worktree that a task works in; null while there is none. */
    runnerOf: (task_id: TaskId): RunnerId | null => {
      const task = q.tasks.get(task_id)
      return (task && workspaceOf(q, task)?.runner_id) ?? null
    },
    /** Returns where a project's checks and hooks run; null: where the worktree is. */
    ciRunnerOf: (project_id: ProjectId): RunnerId | null => {
      const project = q.projects.get(project_id)
      return project && toSettings(project).ci_runner
    },
  }
}
