import { defineStore } from 'pinia'
import { shallowReactive } from 'vue'
import type { Review } from '../../src-shared/contract/reviews.ts'
import { useClient } from './client.ts'

/** Review attempts by task, newest first. */
export const useReviews = defineStore('reviews', () => {
  const client = useClient()
  const byId = shallowReactive(new Map<string, Review>())
  /** Tasks of which all attempts are here. */
  const known = shallowReactive(new Set<string>())

  function put(review: Review): void {
    byId.set(review.id, review)
  }
  function byTask(taskId: string): Review[] {
    return [...byId.values()]
      .filter((review) => review.task_id === taskId)
      .sort((a, b) => b.attempt_number - a.attempt_number)
  }
  return {
    byTask,
    /** Whether what is missing in `byTask` is not there; before, nobody can say that. */
    isKnown: (taskId: string): boolean => known.has(taskId),
    put,
    load: async (taskId: string): Promise<void> => {
      const before = new Map(byId)
      const { items } = await client.call('tasks.reviews', { task_id: taskId })
      // What an event has said meanwhile is newer.
      for (const review of items) if (byId.get(review.id) === before.get(review.id)) put(review)
      known.add(taskId)
    },
    removeTask(taskId: string): void {
      known.delete(taskId)
      for (const review of byTask(taskId)) byId.delete(review.id)
    },
  }
})
