import { defineStore } from 'pinia'
import { computed, shallowRef, watch } from 'vue'
import type { Orphan, RemovedOrphan } from '../../../src-shared/contract/orphans.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { useClient } from '../base/client.ts'
import { useQuery } from '../base/query.ts'
import { useSession } from '../base/session.ts'
import { useTasks } from '../tasks/tasks.ts'

/** Folders below the workspace root that belong to no task. Only the local operator and admins may see them. */
export const useOrphans = defineStore('orphans', () => {
  const client = useClient()
  const session = useSession()
  const isAllowed = computed(() => session.isAdmin)
  const items = shallowRef<readonly Orphan[] | null>(null)
  const { data, error, loading, reload } = useQuery(() => client.call('orphans.list', {}))
  watch(data, (listed) => (items.value = listed?.items ?? null), { flush: 'sync' })

  function drop(path: string): void {
    items.value = items.value?.filter((orphan) => orphan.path !== path) ?? null
  }
  return {
    /** null until they are loaded. */
    items,
    failure: error,
    loading,
    isAllowed,
    count: computed(() => items.value?.length ?? 0),
    load: async (): Promise<void> => {
      if (isAllowed.value) await reload()
    },
    remove: async (path: string): Promise<RemovedOrphan> => {
      const removed = await client.call('orphans.remove', { path })
      drop(path)
      return removed
    },
    /** Creates a task from the folder. Without a title its branch names it. */
    adopt: async (path: string, projectId: string, title: string): Promise<Task> => {
      const named = title.trim() === '' ? {} : { title: title.trim() }
      const task = await client.call('orphans.adopt', { path, project_id: projectId, ...named })
      useTasks().put(task)
      drop(path)
      return task
    },
  }
})
