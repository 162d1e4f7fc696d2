import { defineStore } from 'pinia'
import { computed, shallowRef } from 'vue'
import type { Orphan, RemovedOrphan } from '../../src-shared/contract/orphans.ts'
import type { Task } from '../../src-shared/contract/tasks.ts'
import { useClient } from './client.ts'
import { useSession } from './session.ts'
import { useTasks } from './tasks.ts'

/** Folders below the workspace root that belong to no task. Only who runs this machine sees them. */
export const useOrphans = defineStore('orphans', () => {
  const client = useClient()
  const session = useSession()
  const items = shallowRef<readonly Orphan[] | null>(null)
  const failure = shallowRef<unknown>(null)
  const loading = shallowRef(false)
  const isAllowed = computed(() => session.system?.local_operator === true || session.me?.is_admin === true)
  let latest = 0

  async function load(): Promise<void> {
    if (!isAllowed.value) return
    const attempt = ++latest
    loading.value = true
    try {
      const listed = (await client.call('orphans.list', {})).items
      if (attempt !== latest) return
      items.value = listed
      failure.value = null
    } catch (error) {
      if (attempt === latest) failure.value = error
    } finally {
      if (attempt === latest) loading.value = false
    }
  }
  function drop(path: string): void {
    items.value = items.value?.filter((orphan) => orphan.path !== path) ?? null
  }
  return {
    /** Null until they have been looked for. */
    items,
    failure,
    loading,
    isAllowed,
    count: computed(() => items.value?.length ?? 0),
    load,
    remove: async (path: string): Promise<RemovedOrphan> => {
      const removed = await client.call('orphans.remove', { path })
      drop(path)
      return removed
    },
    /** Makes a task of it; without a title it is named after its branch. */
    adopt: async (path: string, projectId: string, title: string): Promise<Task> => {
      const named = title.trim() === '' ? {} : { title: title.trim() }
      const task = await client.call('orphans.adopt', { path, project_id: projectId, ...named })
      useTasks().put(task)
      drop(path)
      return task
    },
  }
})
