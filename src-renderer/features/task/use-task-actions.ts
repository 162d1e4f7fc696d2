import type { RecoveryAction } from '../../../src-shared/contract/tasks.ts'
import { useAction } from '../../stores/query.ts'
import { useExecutions } from '../../stores/executions.ts'
import { useTasks } from '../../stores/tasks.ts'
import { useToasts } from '../../stores/toasts.ts'

/** What the head of the panel does. Each answers whether it went well; what was refused says why in a toast. */
export function useTaskActions(taskId: () => string) {
  const tasks = useTasks()
  const executions = useExecutions()
  const toasts = useToasts()
  const { busy, runWithToast } = useAction()
  const recovery = useAction<RecoveryAction>()

  async function stopRunning(): Promise<void> {
    const running = tasks.byId.get(taskId())?.active_execution_id
    if (running) await executions.stop(running)
  }

  return {
    busy,
    recovering: recovery.current,
    startWith: (agentId: string) => runWithToast('The agent did not start.', () => tasks.claim(taskId(), agentId)),
    stop: () => runWithToast('The agent was not stopped.', stopRunning),
    recover: (action: RecoveryAction, reason?: string) =>
      recovery.runWithToast('It did not work.', () => tasks.recover(taskId(), action, reason), action),
    saveTitle: (title: string) => {
      const version = tasks.byId.get(taskId())?.version
      return toasts.attempt('The title was not saved.', () =>
        tasks.update({ task_id: taskId(), title, ...(version === undefined ? {} : { version }) }),
      )
    },
  }
}
