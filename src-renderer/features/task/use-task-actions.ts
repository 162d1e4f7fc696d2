import type { RecoveryAction } from '../../../src-shared/contract/tasks.ts'
import { useAttempt } from '../../stores/attempt.ts'
import { useExecutions } from '../../stores/executions.ts'
import { useTasks } from '../../stores/tasks.ts'
import { useToasts } from '../../stores/toasts.ts'

/** What the head of the panel does. Each answers whether it went well; what was refused says why in a toast. */
export function useTaskActions(taskId: () => string) {
  const tasks = useTasks()
  const executions = useExecutions()
  const toasts = useToasts()
  const { busy, tell } = useAttempt()
  const recovery = useAttempt<RecoveryAction>()

  async function stopRunning(): Promise<void> {
    const running = tasks.byId.get(taskId())?.active_execution_id
    if (running) await executions.stop(running)
  }

  return {
    busy,
    recovering: recovery.doing,
    startWith: (agentId: string) => tell('The agent did not start.', () => tasks.claim(taskId(), agentId)),
    stop: () => tell('The agent was not stopped.', stopRunning),
    recover: (action: RecoveryAction, reason?: string) =>
      recovery.tell('It did not work.', () => tasks.recover(taskId(), action, reason), action),
    saveTitle: (title: string) => {
      const version = tasks.byId.get(taskId())?.version
      return toasts.tried('The title was not saved.', () =>
        tasks.update({ task_id: taskId(), title, ...(version === undefined ? {} : { version }) }),
      )
    },
  }
}
