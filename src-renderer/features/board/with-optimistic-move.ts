import type { Task } from '../../../src-shared/contract/tasks.ts'
import { stateOf } from '../../model/workflow-shape.ts'
import { useProjects } from '../../stores/projects.ts'
import { useTasks } from '../../stores/tasks.ts'
import { useToasts } from '../../stores/toasts.ts'

/** Changes of a card that show before the service has agreed. */
export function withOptimisticMove() {
  const tasks = useTasks()
  const projects = useProjects()
  const toasts = useToasts()

  /** Where the card is when nothing came of the change. */
  function stays(task: Task): string {
    const state = stateOf(projects.workflow(task.project_id), task.status)
    return `“${task.title}” stays in ${state?.label ?? task.status}.`
  }
  return {
    stays,
    /** Runs the change with the card already where it goes; a refusal brings it back and says why. */
    async optimistic(task: Task, to: string | null, work: () => Promise<unknown>): Promise<void> {
      try {
        await (to === null ? work() : tasks.moving(task.id, to, work))
      } catch (error) {
        toasts.refused(error, stays(task))
      }
    },
  }
}
