import { defineStore } from 'pinia'
import { shallowReactive } from 'vue'
import type { Review } from '../../src-shared/contract/reviews.ts'
import { useClient } from './client.ts'
import { createTaskLists } from './task-lists.ts'

/** Review attempts by task, newest first. */
export const useReviews = defineStore('reviews', () => {
  const client = useClient()
  const byId = shallowReactive(new Map<string, Review>())

  function put(review: Review): void {
    byId.set(review.id, review)
  }
  function byTask(taskId: string): Review[] {
    return [...byId.values()]
      .filter((review) => review.task_id === taskId)
      .sort((a, b) => b.attempt_number - a.attempt_number)
  }
  const lists = createTaskLists(byId, put)
  return {
    byTask,
    isKnown: lists.isKnown,
    put,
    load: (taskId: string): Promise<void> =>
      lists.load(taskId, () => client.call('tasks.reviews', { task_id: taskId })),
    removeTask(taskId: string): void {
      lists.forget(taskId)
      for (const review of byTask(taskId)) byId.delete(review.id)
    },
  }
})
