import type { Task } from '../../../../src-shared/contract/tasks.ts'
import { cancellationState } from '../../../model/workflow-shape.ts'
import { useProjects } from '../../../stores/project/projects.ts'
import { useTasks } from '../../../stores/tasks/tasks.ts'
import { useToasts } from '../../../stores/base/toasts.ts'
import { count } from '../../../formatters/format-amounts.ts'

/** What can be taken back for a few seconds. `stays` says where a card is when nothing came of it. */
export function useUndo(stays: (task: Task) => string) {
  const projects = useProjects()
  const tasks = useTasks()
  const toasts = useToasts()
  const tellArchived = useArchived()

  return {
    /** Shows the task as cancelled at once, and cancels it when the time to take that back is up. */
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
        .catch((error: unknown) => toasts.refused(error, stays(task)))
    },
    async archive(task: Task): Promise<void> {
      await tasks.archive(task.id)
      tellArchived([task])
    },
  }
}

/** Says which tasks were archived, and brings exactly those back where one asks. */
export function useArchived(): (all: readonly Task[]) => void {
  const tasks = useTasks()
  const toasts = useToasts()
  async function bringBack(all: readonly Task[]): Promise<void> {
    for (const task of all) {
      await toasts.attempt(`Couldn’t unarchive “${task.title}”.`, () => tasks.unarchive(task.id))
    }
  }
  return (all) => {
    const [only, ...others] = all
    if (!only) return
    const text = others.length === 0 ? `Archived “${only.title}”` : `${count(all.length, 'task')} archived`
    toasts.done(text, { label: 'Undo', run: () => void bringBack(all) })
  }
}
