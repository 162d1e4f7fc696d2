import type { Task } from '../../../../src-shared/contract/tasks.ts'
import { cancellationState } from '../../../model/workflow-shape.ts'
import { useProjects } from '../../../stores/project/projects.ts'
import { useTasks } from '../../../stores/tasks/tasks.ts'
import { useToasts } from '../../../stores/base/toasts.ts'
import { count } from '../../../formatters/format-amounts.ts'

/**
 * Returns actions with undo for a few seconds. `unchangedText` is the sentence after a failed
 * change.
 */
export function useUndo(unchangedText: (task: Task) => string) {
  const projects = useProjects()
  const tasks = useTasks()
  const toasts = useToasts()
  const showArchived = useArchived()

  return {
    /** Shows the task as cancelled at once; cancels it when the undo toast ends. */
    cancelWithUndo(task: Task): void {
      const workflow = projects.workflow(task.project_id)
      const ended = (workflow && cancellationState(workflow)) ?? task.status
      const decided = Promise.withResolvers<boolean>()
      toasts.done(`Cancelled “${task.title}”`, {
        label: 'Undo',
        run: () => decided.resolve(false),
        left: () => decided.resolve(true),
      })
      tasks
        .moving(task.id, ended, async () => {
          if (await decided.promise) await tasks.cancel(task.id)
        })
        .catch((error: unknown) => toasts.refused(error, unchangedText(task), undefined, task))
    },
    async archive(task: Task, closesPullRequest = false): Promise<void> {
      await tasks.archive(task.id, closesPullRequest)
      showArchived([task])
    },
  }
}

/** Returns a function that shows which tasks were archived, with undo for exactly those. */
export function useArchived(): (all: readonly Task[]) => void {
  const tasks = useTasks()
  const toasts = useToasts()
  async function unarchive(all: readonly Task[]): Promise<void> {
    for (const task of all) {
      await toasts.attempt(`Couldn’t unarchive “${task.title}”.`, () => tasks.unarchive(task.id))
    }
  }
  return (all) => {
    const [only, ...others] = all
    if (!only) return
    const text = others.length === 0 ? `Archived “${only.title}”` : `${count(all.length, 'task')} archived`
    toasts.done(text, { label: 'Undo', run: () => void unarchive(all) })
  }
}
