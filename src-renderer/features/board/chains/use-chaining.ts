import type { Task } from '../../../../src-shared/contract/tasks.ts'
import { useAgents } from '../../../stores/agents/agents.ts'
import { useRecentAgents } from '../../../stores/agents/recent-agents.ts'
import { useTasks } from '../../../stores/tasks/tasks.ts'
import { useToasts } from '../../../stores/base/toasts.ts'

/** The way a task follows another: after it is done, or on its branch; an agent may start it then. */
export interface ChainChoice {
  readonly how: 'done' | 'branch'
  readonly agentId: string | null
}

/** Returns an action that chains two tasks, with undo for a few seconds. */
export function useChaining() {
  const agents = useAgents()
  const recent = useRecentAgents()
  const tasks = useTasks()
  const toasts = useToasts()

  const link = (first: Task, next: Task, how: ChainChoice['how']): Promise<unknown> =>
    how === 'done' ? tasks.addDependency(next.id, first.id) : tasks.update({ task_id: next.id, stacked_on: first.id })
  /** Undoes the chain. Cancels the start first: without its dependency the task would start at once. */
  async function takeBack(first: Task, next: Task, { how, agentId }: ChainChoice): Promise<void> {
    if (agentId !== null) await tasks.cancelStart(next.id)
    if (how === 'done') await tasks.removeDependency(next.id, first.id)
    else await tasks.update({ task_id: next.id, stacked_on: null })
  }
  return async (first: Task, next: Task, choice: ChainChoice): Promise<void> => {
    const { how, agentId } = choice
    if (!(await toasts.attempt(`${next.ref} doesn’t start after ${first.ref}.`, () => link(first, next, how)))) return
    if (agentId !== null) {
      recent.used(agentId)
      const context = `${next.ref} starts after ${first.ref}, but not automatically.`
      if (!(await toasts.attempt(context, () => tasks.startWhenReady(next.id, agentId)))) return
    }
    const starter = agentId === null ? '' : ` with ${agents.byId.get(agentId)?.name ?? 'an agent'}`
    toasts.done(`${next.ref} starts after ${first.ref}${starter}`, {
      label: 'Undo',
      run: () =>
        void toasts.attempt(`${next.ref} still starts after ${first.ref}.`, () => takeBack(first, next, choice)),
    })
  }
}
