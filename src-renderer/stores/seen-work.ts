import { defineStore } from 'pinia'

/** The tree of each task's work as the person last saw it in a diff: what they decide is about that. */
export const useSeenWork = defineStore('seen-work', () => {
  const trees = new Map<string, string>()
  return {
    note: (taskId: string, tree: string | null): void => {
      if (tree === null) trees.delete(taskId)
      else trees.set(taskId, tree)
    },
    treeOf: (taskId: string): string | undefined => trees.get(taskId),
  }
})
