import { defineStore } from 'pinia'
import { readLocal, writeLocal } from '../../stores/base/local-storage.ts'

const key = 'copse.looks'
const maxTasks = 500

/** The head of each task's branch when its diff was last viewed, on this device. */
export const useLooks = defineStore('looks', () => {
  const headByTask = new Map(
    Object.entries(readLocal(key)).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
  return {
    headOf: (taskId: string): string | null => headByTask.get(taskId) ?? null,
    note(taskId: string, head: string): void {
      // Insertion order: the newest is last.
      headByTask.delete(taskId)
      headByTask.set(taskId, head)
      for (const [oldest] of [...headByTask].slice(0, Math.max(0, headByTask.size - maxTasks)))
        headByTask.delete(oldest)
      writeLocal(key, JSON.stringify(Object.fromEntries(headByTask)))
    },
  }
})
