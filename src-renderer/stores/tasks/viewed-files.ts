import { defineStore } from 'pinia'
import { shallowReactive } from 'vue'
import type { ViewedContent } from '../../../src-shared/contract/workspaces.ts'
import { useClient } from '../base/client.ts'
import { createOptimisticChanges } from '../base/entity-store.ts'

type Shown = ViewedContent & { readonly viewed: boolean }

/**
 * The files that the user has marked as viewed or not since the diffs were loaded, here or in
 * another window. The service stores the marks and returns them with the next diff; until then
 * these are newer.
 */
export const useViewedFiles = defineStore('viewed-files', () => {
  const client = useClient()
  const byTask = shallowReactive(new Map<string, ReadonlyMap<string, Shown>>())
  const changes = createOptimisticChanges()

  function show(taskId: string, files: readonly ViewedContent[], viewed: boolean): void {
    const marks = new Map(byTask.get(taskId))
    for (const { path, blob, new_mode } of files) marks.set(path, { path, blob, new_mode, viewed })
    byTask.set(taskId, marks)
  }
  return {
    /** Applies an event: a mark from another window, or the echo of one from here, which may have changed since. */
    put(taskId: string, files: readonly ViewedContent[], viewed: boolean): void {
      const news = files.filter(({ path }) => !changes.isOutdated(keyOf(taskId, path)))
      if (news.length > 0) show(taskId, news, viewed)
    },
    /** Returns whether the file is marked as viewed and its content is unchanged since. */
    isViewed(taskId: string, file: Shown): boolean {
      const mark = byTask.get(taskId)?.get(file.path)
      if (mark === undefined) return file.viewed
      return mark.blob === file.blob && mark.new_mode === file.new_mode && mark.viewed
    },
    /** Marks files at once, and undoes this if the service refuses. */
    mark: async (taskId: string, files: readonly ViewedContent[], viewed: boolean): Promise<void> => {
      const contents = files.map(({ path, blob, new_mode }) => ({ path, blob, new_mode }))
      const keys = contents.map(({ path }) => keyOf(taskId, path))
      show(taskId, contents, viewed)
      try {
        await changes.send(keys, () => client.call('tasks.mark_viewed', { task_id: taskId, files: contents, viewed }))
      } catch (error) {
        show(taskId, contents, !viewed)
        throw error
      }
    },
    /** Drops all marks, because those from other windows may have been missed. */
    clear(): void {
      byTask.clear()
      changes.forget()
    },
  }
})

const keyOf = (taskId: string, path: string): string => `${taskId}/${path}`
