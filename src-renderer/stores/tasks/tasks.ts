import { defineStore } from 'pinia'
import type { TaskMove } from '../../../src-shared/contract/tasks.ts'
import { shortId } from '../../formatters/short-id.ts'
import { useClient } from '../base/client.ts'
import { useRecentAgents } from '../agents/recent-agents.ts'
import { useSeenWork } from './seen-work.ts'
import { createTaskChanges } from './task-changes.ts'
import { createTaskLoading } from './task-loading.ts'
import { createTaskState } from './task-state.ts'

/** All known tasks, their loading, and the user's operations on them. */
export const useTasks = defineStore('tasks', () => {
  const client = useClient()
  const state = createTaskState()
  const loading = createTaskLoading(client, state)
  const seenWork = useSeenWork()
  const recent = useRecentAgents()
  const seenTree = (taskId: string) => {
    const task = state.byId.get(taskId)
    return task && seenWork.treeOf(task)
  }
  return {
    ...state,
    ...loading,
    ...createTaskChanges(client, state, { fetch: loading.fetch, seenTree, onClaimed: recent.used }),
    /** Returns the task's ref: `SHO-42`; for an unknown task, the end of its ID. */
    refOf: (taskId: string): string => state.byId.get(taskId)?.ref ?? shortId(taskId),
    /** Returns the name of the task's branch; refused before the first claim. */
    branch: async (taskId: string): Promise<string> =>
      (await client.call('tasks.workspace', { task_id: taskId })).branch,
    moves: async (taskId: string): Promise<TaskMove[]> => (await client.call('tasks.moves', { task_id: taskId })).items,
  }
})
