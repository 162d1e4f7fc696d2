import { defineStore } from 'pinia'
import { shallowReactive } from 'vue'
import type { Activity } from '../../../src-shared/contract/events.ts'
import type { Execution } from '../../../src-shared/contract/executions.ts'
import type { CommentId } from '../../../src-shared/contract/ids.ts'
import { useClient } from '../base/client.ts'
import { createTaskLists } from '../tasks/task-lists.ts'
import { useTasks } from '../tasks/tasks.ts'

/** Executions by task, newest first, and the last activity of each running agent. */
export const useExecutions = defineStore('executions', () => {
  const client = useClient()
  /** Task ID → the last activity of its running agent. */
  const activity = shallowReactive(new Map<string, Activity>())
  const asked = new Set<string>()
  const { byId, put, take, ...lists } = createTaskLists<Execution>({
    onChanged: ({ task_id, finished_at }) => finished_at !== null && activity.delete(task_id),
  })

  function byTask(taskId: string): Execution[] {
    return [...byId.values()]
      .filter((execution) => execution.task_id === taskId)
      .sort((a, b) => (a.created_at < b.created_at ? 1 : -1))
  }
  const fetch = (executionId: string): Promise<Execution> =>
    take(() => client.call('executions.get', { execution_id: executionId }))
  /** Fetches an execution unless it is known or already requested. */
  async function ensure(executionId: string): Promise<void> {
    if (byId.has(executionId) || asked.has(executionId)) return
    asked.add(executionId)
    try {
      await fetch(executionId)
    } finally {
      asked.delete(executionId)
    }
  }
  async function stop(executionId: string): Promise<void> {
    const reply = await client.call('executions.stop', { execution_id: executionId })
    put(reply.execution)
    useTasks().put(reply.task)
  }
  return {
    byId,
    activity,
    byTask,
    isKnown: lists.isKnown,
    put,
    load: (taskId: string): Promise<void> =>
      lists.load(taskId, () => client.call('tasks.executions', { task_id: taskId })),
    ensure,
    fetch,
    stop,
    /** Returns since when the execution has produced no output, once it is stalled; null otherwise. */
    quietSince(taskId: string, executionId: string): string | null {
      const last = activity.get(taskId)
      return last?.execution_id === executionId ? last.quiet_since : null
    },
    setActivity: (next: Activity) => void activity.set(next.task_id, next),
    /** Sends input to the running agent. */
    input: async (executionId: string, data: string): Promise<void> => {
      await client.call('executions.input', { execution_id: executionId, data })
    },
    /** Sets the terminal size of the execution. */
    resize: async (executionId: string, cols: number, rows: number): Promise<void> => {
      await client.call('executions.resize', { execution_id: executionId, cols, rows })
    },
    /** Sends comments and a message to a task's worker. During a run they wait for its end. */
    send: async (taskId: string, comment_ids: CommentId[], message?: string): Promise<void> => {
      const text = message === undefined ? {} : { message }
      const reply = await client.call('tasks.feedback', { task_id: taskId, comment_ids, ...text })
      put(reply.execution)
      useTasks().put(reply.task)
    },
    /** Changes a queued message. */
    editMessage: async (executionId: string, message: string): Promise<void> => {
      put(await client.call('executions.update', { execution_id: executionId, message }))
    },
    /**
     * Answers the agent's question. The reply isn't stored, because it may arrive after the event
     * of the next question.
     */
    answer: async (executionId: string, askId: string, given: { option_id?: string; text?: string }): Promise<void> => {
      await client.call('executions.answer', { execution_id: executionId, ask_id: askId, ...given })
    },
    /** Removes a deleted task's executions. */
    removeTask(taskId: string): void {
      activity.delete(taskId)
      lists.removeTask(taskId)
    },
  }
})
