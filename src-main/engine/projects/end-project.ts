import type { ProjectId, TaskId } from '../../../src-shared/contract/ids.ts'
import { forgetLogs } from './forget-logs.ts'
import { abandon } from '../actions/move-task.ts'

/** What a project leaves to be done around its deletion. */
export interface ProjectEnd {
  /** Drops what the tasks of a project have still to do, and waits for what is under way to give up. */
  abandonAll(project_id: ProjectId): Promise<void>
  /** Removes what was logged of tasks that are gone. */
  forgetLogs(task_ids: readonly TaskId[]): Promise<void>
}

export function createProjectEnd(deps: Parameters<typeof abandon>[0]): ProjectEnd {
  const { context } = deps
  const { read } = context.store
  return {
    async abandonAll(project_id) {
      const pending = new Set([...read.effects.pendingTasks(), ...read.occasions.pendingTasks()])
      const ofProject = [...pending].filter((id) => read.tasks.get(id)?.project_id === project_id)
      await Promise.all(ofProject.map((task_id) => abandon(deps, task_id)))
    },
    forgetLogs: (task_ids) => forgetLogs(context, task_ids),
  }
}
