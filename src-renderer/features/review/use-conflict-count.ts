import { computed, watch, type Ref } from 'vue'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { useResource } from '../../composables/use-resource.ts'
import { useBranchUpdates } from '../../stores/branch-updates.ts'
import { useTaskInvalidation } from '../../stores/task-invalidation.ts'

/** In how many files the task's branch would conflict now; null while that is not known, and where nobody will merge it. */
export function useConflictCount(task: Readonly<Ref<Task | null>>, isOver: () => boolean) {
  const updates = useBranchUpdates()
  const news = useTaskInvalidation()
  const found = useResource(async () => (task.value ? updates.conflicts(task.value.id) : null))
  watch(
    () => {
      const known = task.value
      if (known === null || isOver()) return null
      return `${known.id} ${known.status} ${known.version} ${news.changesOf(known.id, 'workspace')}`
    },
    (now) => (now === null ? found.clear() : void found.reload()),
    { immediate: true },
  )
  // Without a branch there is nothing to say; the reason stands elsewhere.
  return { conflicts: computed(() => (found.error.value ? null : (found.data.value?.files.length ?? null))) }
}
