import { defineStore } from 'pinia'
import type { Review } from '../../../src-shared/contract/reviews.ts'
import { useClient } from '../base/client.ts'
import { createTaskLists } from '../tasks/task-lists.ts'

/** Review attempts by task, newest first. */
export const useReviews = defineStore('reviews', () => {
  const client = useClient()
  const { byId, put, isKnown, load, removeTask } = createTaskLists<Review>()

  function byTask(taskId: string): Review[] {
    return [...byId.values()]
      .filter((review) => review.task_id === taskId)
      .sort((a, b) => b.attempt_number - a.attempt_number)
  }
  return {
    byTask,
    isKnown,
    put,
    load: (taskId: string): Promise<void> => load(taskId, () => client.call('tasks.reviews', { task_id: taskId })),
    removeTask,
  }
})
