import { defineStore } from 'pinia'
import { shallowReactive } from 'vue'
import type { ViewedContent } from '../../../src-shared/contract/workspaces.ts'
import { useClient } from '../base/client.ts'
import { createOptimisticChanges } from '../base/entity-store.ts'

type Shown = ViewedContent & { readonly viewed: boolean }

interface ShownHunk {
  readonly id: string
  readonly viewed: boolean
}

/**
 * The files and hunks that the user has marked as viewed or not since they were loaded, here or in
 * another window. The service stores the marks and returns them with the next diff; until then
 * these are newer.
 */
export const useViewedFiles = defineStore('viewed-files', () => {
  const client = useClient()
  const byTask = shallowReactive(new Map<string, ReadonlyMap<string, Shown>>())
  const hunksByTask = shallowReactive(new Map<string, ReadonlyMap<string, boolean>>())
  const changes = createOptimisticChanges()

  function show(taskId: string, files: readonly ViewedContent[], viewed: boolean): void {
    if (files.length === 0) return
    const marks = new Map(byTask.get(taskId))
    for (const { path, blob, new_mode } of files) marks.set(path, { path, blob, new_mode, viewed })
    byTask.set(taskId, marks)
  }
  function showHunks(taskId: string, ids: readonly string[], viewed: boolean): void {
    if (ids.length === 0) return
    const marks = new Map(hunksByTask.get(taskId))
    for (const id of ids) marks.set(id, viewed)
    hunksByTask.set(taskId, marks)
  }
  return {
    /** Applies an event: marks from another window, or the echo of those from here, which may have changed since. */
    put(taskId: string, marked: Marked): void {
      const { files, hunks, viewed } = marked
      const news = files.filter(({ path }) => !changes.isOutdated(keyOf(taskId, path)))
      show(taskId, news, viewed)
      const newHunks = hunks.filter((id) => !changes.isOutdated(hunkKey(taskId, id)))
      showHunks(taskId, newHunks, viewed)
    },
    /** Returns whether the file is marked as viewed and its content is unchanged since. */
    isViewed(taskId: string, file: Shown): boolean {
      const mark = byTask.get(taskId)?.get(file.path)
      if (mark === undefined) return file.viewed
      return mark.blob === file.blob && mark.new_mode === file.new_mode && mark.viewed
    },
    isHunkViewed: (taskId: string, hunk: ShownHunk): boolean => hunksByTask.get(taskId)?.get(hunk.id) ?? hunk.viewed,
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
    /** The same for hunks. */
    markHunks: async (taskId: string, ids: readonly string[], viewed: boolean): Promise<void> => {
      const keys = ids.map((id) => hunkKey(taskId, id))
      showHunks(taskId, ids, viewed)
      try {
        const send = () => client.call('tasks.mark_viewed', { task_id: taskId, hunks: [...ids], viewed })
        await changes.send(keys, send)
      } catch (error) {
        showHunks(taskId, ids, !viewed)
        throw error
      }
    },
    /** Drops all marks, because those from other windows may have been missed. */
    clear(): void {
      byTask.clear()
      hunksByTask.clear()
      changes.forget()
    },
  }
})

interface Marked {
  readonly files: readonly ViewedContent[]
  readonly hunks: readonly string[]
  readonly viewed: boolean
}

const keyOf = (taskId: string, path: string): string => `${taskId}/${path}`
const hunkKey = (taskId: string, id: string): string => `${taskId}#${id}`
