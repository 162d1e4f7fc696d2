import { computed, type Ref } from 'vue'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { useQuery, useTaskInvalidation } from '../../stores/query.ts'
import { useBranchUpdates } from '../../stores/branch-updates.ts'

/** In how many files the task's branch would conflict now; null while that is not known, and where nobody will merge it. */
export function useConflictCount(task: Readonly<Ref<Task | null>>, isOver: () => boolean) {
  const updates = useBranchUpdates()
  const news = useTaskInvalidation()
  const { data, error } = useQuery(
    async () => (task.value ? updates.conflicts(task.value.id) : null),
    () => {
      const known = task.value
      if (known === null || isOver()) return null
      return ['conflict count', known.id, known.status, known.version, news.changesOf(known.id, 'workspace')]
    },
  )
  // Without a branch there is nothing to say; the reason stands elsewhere.
  return { conflicts: computed(() => (error.value ? null : (data.value?.files.length ?? null))) }
}
