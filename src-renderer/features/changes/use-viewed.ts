import { computed } from 'vue'
import type { DiffFile } from '../../../src-shared/contract/workspaces.ts'
import { useToasts } from '../../stores/base/toasts.ts'
import { useViewedFiles } from '../../stores/tasks/viewed-files.ts'

/** Returns the files that the user marked as viewed, and a function that marks one. */
export function useViewed(taskId: () => string, files: () => readonly DiffFile[]) {
  const store = useViewedFiles()
  const toasts = useToasts()
  /** Keeps the same set while the same files are marked, so that no watcher runs for nothing. */
  const viewed = computed<ReadonlySet<string>>((before = new Set()) => {
    const next = new Set(files().flatMap((file) => (store.isViewed(taskId(), file) ? [file.path] : [])))
    return next.size === before.size && [...next].every((path) => before.has(path)) ? before : next
  })
  return {
    viewed,
    mark: async (path: string, on: boolean): Promise<void> => {
      const file = files().find((candidate) => candidate.path === path)
      if (!file || viewed.value.has(path) === on) return
      try {
        await store.mark(taskId(), [file], on)
      } catch (error) {
        toasts.refused(error, on ? `Couldn’t mark ${path} as viewed.` : `Couldn’t mark ${path} as not viewed.`)
      }
    },
  }
}
