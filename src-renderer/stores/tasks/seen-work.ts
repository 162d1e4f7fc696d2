import { defineStore } from 'pinia'
import type { Task } from '../../../src-shared/contract/tasks.ts'

type Attempt = Pick<Task, 'id' | 'review_summary'>

/**
 * The git tree of each task's work as the user last saw it in a diff: the user's decisions refer to
 * it. A tree from before the newest review is outdated, because the agent was asked to change it.
 */
export const useSeenWork = defineStore('seen-work', () => {
  const seen = new Map<string, { readonly tree: string; readonly attempt: number }>()
  const attemptOf = ({ review_summary }: Attempt): number => review_summary?.attempt_number ?? 0
  return {
    note: (task: Attempt, tree: string | null): void => {
      if (tree === null) seen.delete(task.id)
      else seen.set(task.id, { tree, attempt: attemptOf(task) })
    },
    treeOf: (task: Attempt): string | undefined => {
      const last = seen.get(task.id)
      return last?.attempt === attemptOf(task) ? last.tree : undefined
    },
  }
})
