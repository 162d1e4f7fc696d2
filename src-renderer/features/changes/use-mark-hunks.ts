import type { ChapterHunk } from '../../model/chapters.ts'
import { useToasts } from '../../stores/base/toasts.ts'
import { useViewedFiles } from '../../stores/tasks/viewed-files.ts'

/** Returns a function that marks hunks as read or not. */
export function useMarkHunks(taskId: () => string, isRead: (hunk: ChapterHunk) => boolean) {
  const store = useViewedFiles()
  const toasts = useToasts()
  return async (hunks: readonly ChapterHunk[], on: boolean): Promise<void> => {
    const ids = hunks.filter((hunk) => isRead(hunk) !== on).map(({ id }) => id)
    if (ids.length === 0) return
    try {
      await store.markHunks(taskId(), ids, on)
    } catch (error) {
      toasts.refused(error, on ? 'Couldn’t mark the change as read.' : 'Couldn’t mark the change as not read.')
    }
  }
}
