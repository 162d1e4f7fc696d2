import { useTimeoutFn } from '@vueuse/core'
import { onScopeDispose, watch } from 'vue'
import { useTaskDetails } from '../../stores/review/task-details.ts'
import { useTaskInvalidation } from '../../stores/base/query.ts'

/** Renewal interval in milliseconds: the service watches for a minute per request. */
const renewMs = 40_000

/**
 * Has the service watch the task's worktree while mounted, and calls `changed` when files changed,
 * or may have changed between two watches.
 */
export function useDiffWatch(taskId: () => string, changed: () => void): void {
  const details = useTaskDetails()
  const news = useTaskInvalidation()
  const { start, stop } = useTimeoutFn(() => void ask(), renewMs, { immediate: false })
  let since: string | null = null
  let latest = 0

  async function ask(): Promise<void> {
    stop()
    const attempt = ++latest
    try {
      const watched = await details.watchDiff(taskId())
      if (attempt !== latest) return
      // Also after the first response, because the diff was loaded before the watch began.
      if (watched.since !== since) changed()
      since = watched.since
    } catch {
      // Without a watch the page still follows events of the task; the next interval retries.
      if (attempt !== latest) return
    }
    start()
  }
  watch(
    taskId,
    () => {
      since = null
      void ask()
    },
    { immediate: true },
  )
  watch(() => news.changesOf(taskId(), 'files'), changed)
  watch(
    () => news.changesOf(taskId(), 'workspace'),
    () => {
      changed()
      // A worktree may exist now.
      void ask()
    },
  )
  onScopeDispose(() => void (latest += 1))
}
