import { ref } from 'vue'
import type { RecoveryAction, TaskMove } from '../../../src-shared/contract/tasks.ts'
import { useExecutions } from '../../stores/executions.ts'
import { useTasks } from '../../stores/tasks.ts'
import { useToasts } from '../../stores/toasts.ts'

/** What the head of the panel does. Each answers whether it went well; what was refused says why in a toast. */
export function useTaskActions(taskId: () => string, moves: () => readonly TaskMove[]) {
  const tasks = useTasks()
  const executions = useExecutions()
  const toasts = useToasts()
  const busy = ref(false)
  const recovering = ref<RecoveryAction | null>(null)

  async function attempt(failed: string, work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work()
      return true
    } catch (error) {
      toasts.refused(error, failed)
      return false
    }
  }
  async function busily(failed: string, work: () => Promise<unknown>): Promise<boolean> {
    if (busy.value) return false
    busy.value = true
    try {
      return await attempt(failed, work)
    } finally {
      busy.value = false
    }
  }
  async function moveTo(to: string): Promise<void> {
    const via = moves().find((candidate) => candidate.to === to)?.via ?? 'transition'
    if (via === 'cancel') await tasks.cancel(taskId())
    else if (via === 'claim') await tasks.claim(taskId())
    else if (via === 'verdict_fail') await tasks.verdict(taskId(), 'fail')
    else await tasks.transition(taskId(), to)
  }
  async function stopRunning(): Promise<void> {
    const running = tasks.byId.get(taskId())?.active_execution_id
    if (running) await executions.stop(running)
  }

  return {
    busy,
    recovering,
    move: (to: string) => busily('The task stays where it is.', () => moveTo(to)),
    startWith: (agentId: string) => busily('The agent did not start.', () => tasks.claim(taskId(), agentId)),
    stop: () => busily('The agent was not stopped.', stopRunning),
    recover: async (action: RecoveryAction, reason?: string): Promise<void> => {
      if (recovering.value !== null) return
      recovering.value = action
      await attempt('It did not work.', () => tasks.recover(taskId(), action, reason))
      recovering.value = null
    },
    saveTitle: (title: string) => {
      const version = tasks.byId.get(taskId())?.version
      return attempt('The title was not saved.', () =>
        tasks.update({ task_id: taskId(), title, ...(version === undefined ? {} : { version }) }),
      )
    },
  }
}
